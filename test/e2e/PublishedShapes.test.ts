/** The message shapes of extensions that are published for niminal, in programs of our own; the Python ones are in `test/system`. */
import { cpSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { installPuppet } from "../kit/Puppet.ts"
import { lastingSurvivors, makeWorkspace, records, startNimlet, type Workspace } from "../kit/Workspace.ts"

const install = (space: Workspace, name: string) =>
  cpSync(join(import.meta.dirname, "../fixtures/extensions", name), join(space.home, ".niminal/extensions", name), { recursive: true })
const kept = (space: Workspace): ReadonlyArray<string> => JSON.parse(readFileSync(join(space.work, "interview.json"), "utf8"))
const answersOf = (stdout: string) => records(stdout).filter((record) => record["type"] === "message" && record["role"] === "assistant").map((record) => record["content"])

describe("one that registers when it has read initialize and connected (bridge)", () => {
  it("offers its tools where the workspace is trusted, and none where it is not", async () => {
    await using space = await makeWorkspace()
    install(space, "bridge")
    await space.file("script.json", JSON.stringify({ steps: [{ tools: [{ name: "clock__now", args: {} }] }, { text: "noon" }] }))
    const run = (...args: ReadonlyArray<string>) => space.nimlet(["--mode", "json", "--script", "script.json", ...args])
    const outputOf = (stdout: string) => records(stdout).find((record) => record["type"] === "tool_result")!["output"]
    expect(outputOf((await run("--approve", "what time?")).stdout)).toBe("noon\n[image: not shown]")
    expect(outputOf((await run("what time?")).stdout)).toBe("Unknown tool: clock__now")
    expect(answersOf((await run("/bridge")).stdout)).toEqual(["clock: 0 tools"])
    expect(answersOf((await run("--approve", "/bridge")).stdout)).toEqual(["clock: 1 tools"])
    expect(await lastingSurvivors(space.root)).toEqual([])
  })
})

describe("one that asks 17 questions in a row (interview)", () => {
  it("is through at once where nobody can be asked", async () => {
    await using space = await makeWorkspace()
    install(space, "interview")
    const run = await space.nimlet(["--mode", "json", "--provider", "offline", "/interview"])
    expect(run.code).toBe(0)
    expect(run.durationMs).toBeLessThan(5_000)
    expect(answersOf(run.stdout)).toEqual(["Kept 17 answers."])
    expect(kept(space)).toEqual(Array.from({ length: 17 }, () => "inherit"))
  })

  it("puts them one after the other at a terminal, and each answer is that of its own question", async () => {
    await using space = await makeWorkspace()
    install(space, "interview")
    const run = startNimlet({ args: ["/interview"], cwd: space.work, home: space.home, tty: true, holdStdin: true, env: { TERM: "xterm", NO_COLOR: "1" } })
    const picks = Array.from({ length: 17 }, (_, n) => n % 3 + 1)
    for (const [n, pick] of picks.entries()) {
      await run.until((screen) => screen.includes(`Model for role ${n + 1}?`) && screen.split("\n> ").length > n + 1)
      run.child.stdin!.write(`${pick}\n`)
    }
    const { code, stdout } = await run.ended
    expect(code).toBe(0)
    expect(stdout).toContain("Kept 17 answers.")
    expect(kept(space)).toEqual(picks.map((pick) => ["inherit", "small", "large"][pick - 1]))
  })
})

describe("one whose tool and command have the same name", () => {
  it("has both", async () => {
    await using space = await makeWorkspace()
    await installPuppet(space, "list", {
      root: "~/.niminal/extensions",
      register: { commands: [{ name: "todo" }], tools: [{ name: "todo", description: "List.", input_schema: { type: "object" }, capabilities: ["read", "write"] }] },
      replies: { todo: [{ message: "for the person", content: [{ type: "text", text: "for the model" }] }] }
    })
    await space.file("script.json", JSON.stringify({ steps: [{ tools: [{ name: "todo", args: {} }] }, { text: "done" }] }))
    const run = (prompt: string) => space.nimlet(["--mode", "json", "--script", "script.json", prompt])
    expect(answersOf((await run("/todo")).stdout)).toEqual(["for the person"])
    expect(records((await run("go")).stdout).find((record) => record["type"] === "tool_result")).toMatchObject({ output: "for the model" })
  })
})
