/** Runs that cannot go on as they should: the disk refuses, the limit of requests is reached. */
import { describe, expect, it } from "vitest"
import { checkRecords } from "@nimlet/protocol"
import { makeWorkspace, records } from "../kit/Workspace.ts"

const steps = { steps: [{ tool: "bash", args: { command: "echo ran" } }, { text: "All done." }] }

describe("a session that cannot be written", () => {
  it("does not keep the answer back; the exit code and the records tell the truth", async () => {
    await using space = await makeWorkspace()
    await space.file("script.json", JSON.stringify(steps))
    await space.file("~/full", "")
    await space.file("~/.nimlet/config.json", JSON.stringify({ agent: { session_dir: "~/full/sessions" } }))
    const run = await space.nimlet(["--mode", "json", "--script", "script.json", "go"])
    const all = records(run.stdout)
    expect([run.code, checkRecords(all), all.at(-1)!["success"]]).toEqual([1, [], false])
    expect(all.filter((record) => record["type"] === "message").at(-1)).toMatchObject({ role: "assistant", content: "All done.", final: true })
    expect(all.filter((record) => record["type"] === "diagnostic" && record["level"] === "error").map((record) => record["message"])).toEqual([expect.stringMatching(/full\/sessions.*in memory/), expect.stringMatching(/^4 entries of session \d+ are not saved: cannot write .*full\/sessions/)])
    await space.file("~/.nimlet/config.json", "{}")
    for (const more of [[], ["--resume"]]) expect((await space.nimlet(["-p", ...more, "--script", "script.json", "go"])).code).toBe(0)
    await space.file("~/.nimlet/config.json", JSON.stringify({ agent: { session_dir: "~/full/sessions" } }))
    const print = await space.nimlet(["-p", "--script", "script.json", "go"])
    expect([print.code, print.stdout]).toEqual([1, "All done.\n"])
    expect(print.stderr).toContain("full/sessions")
    const named = await space.nimlet(["-p", "/name Tower"])
    expect([named.code, named.stdout]).toEqual([1, "The session is now called: Tower\n"])
    expect(named.stderr).toMatch(/going on with the session in memory\n.*1 entries of session \d+ are not saved/s)
  })
})

describe("--max-steps", () => {
  it("ends a run that asks the model too often, and settings can say it too", async () => {
    await using space = await makeWorkspace()
    await space.file("script.json", JSON.stringify(steps))
    const run = await space.nimlet(["--mode", "json", "--max-steps", "1", "--script", "script.json", "go"])
    expect(run.code).toBe(1)
    expect(records(run.stdout).find((record) => record["type"] === "error")!["message"]).toContain("Stopped after 1 request to the model")
    await space.file("~/.nimlet/config.json", JSON.stringify({ agent: { max_steps: 1 } }))
    expect((await space.nimlet(["-p", "--script", "script.json", "go"])).code).toBe(1)
    expect((await space.nimlet(["--max-steps", "0", "x"])).code).toBe(2)
    expect((await space.nimlet(["-p", "--max-steps", "2", "--script", "script.json", "go"])).stdout).toBe("All done.\n")
  })
})
