/** What goes wrong once in a while only shows when it is tried often. */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { lastingSurvivors, makeWorkspace, records } from "../kit/Workspace.ts"

const bin = process.env["NIMLET_BIN"] ?? join(import.meta.dirname, "../../apps/cli/dist/nimlet.mjs")

describe("a reader who goes after the first line", () => {
  it("changes nothing, fifty times, while a command prints much", async () => {
    await using space = await makeWorkspace()
    await space.file("script.json", JSON.stringify({ steps: [{ tool: "bash", args: { command: "seq 1 50000; echo x >> done" } }, { text: "All printed." }] }))
    for (let round = 1; round <= 50; round++) {
      const line = `("${process.execPath}" "${bin}" --mode json --script script.json go; echo $? >code) | head -1`
      const run = await space.nimlet(["-c", line], { bin: "/bin/sh" })
      expect(records(run.stdout)).toMatchObject([{ type: "session_start" }])
      expect(run.stderr).toBe("")
      await expect.poll(() => readFileSync(join(space.work, "code"), "utf8").trim(), { timeout: 10_000 }).toBe("0")
      expect(readFileSync(join(space.work, "done"), "utf8").length).toBe(2 * round)
      await space.file("code", "")
    }
    const sessions = globSync(join(space.home, ".nimlet/sessions/*.jsonl"))
    expect(sessions).toHaveLength(50)
    for (const session of sessions) expect((await space.nimlet(["replay", session])).stdout).toContain("nothing is wrong")
    expect(await lastingSurvivors(space.root)).toEqual([])
  })
})

describe("fifty runs at once", () => {
  it("all succeed, each with a session of its own", async () => {
    await using space = await makeWorkspace()
    const runs = await Promise.all(Array.from({ length: 50 }, () => space.nimlet(["--mode", "json", "--provider", "offline", "list the files"], { limitMs: 120_000 })))
    expect(runs.filter(({ code, stderr }) => code !== 0 || stderr !== "")).toEqual([])
    expect(new Set(runs.map(({ stdout }) => records(stdout)[0]!["session_id"])).size).toBe(50)
  })
})
