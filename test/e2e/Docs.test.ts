/** The guides for users as a reader follows them: what they show is taken as it stands, and works. */
import { readFileSync } from "node:fs"
import { chmod } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { makeWorkspace, records } from "../kit/Workspace.ts"

const guide = (name: string) => readFileSync(join(import.meta.dirname, "../../apps/cli/docs", name), "utf8")
const section = (text: string, heading: string) => new RegExp(`^## ${heading}\\n([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, "m").exec(text)?.[1] ?? ""
const json = (text: string): string => /```json\n([\s\S]*?)```/.exec(text)?.[1] ?? ""
/** The rows of the first table: their cells. */
const rows = (text: string) => text.split("\n").filter((line) => /^\| `/.test(line)).map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()))

// E-315
describe("the guides", () => {
  it("tell how a tool of one's own is made, by one that works as it stands", async () => {
    await using space = await makeWorkspace()
    await space.file("~/.nimlet/tools/dice/tool.json", json(guide("resources.md")))
    await chmod(await space.file("~/.nimlet/tools/dice/roll.sh", "#!/bin/sh\nread -r given\necho \"[$given, 4]\"\n"), 0o755)
    const run = await space.nimlet(["--mode", "json", "--provider", "offline", "call dice {\"sides\":6}"])
    const result = records(run.stdout).find(({ type }) => type === "tool_result")
    expect(result).toMatchObject({ tool_name: "dice", is_error: false, output: expect.stringContaining("4") })
  })

  it("tell of compaction, with settings that are taken", async () => {
    await using space = await makeWorkspace()
    const told = rows(section(guide("sessions.md"), "Compaction")).map(([key, , value]) => [key!.replaceAll("`", "").replace("agent.", ""), value!.replaceAll("`", "")])
    expect(told.length).toBeGreaterThan(3)
    const agent = Object.fromEntries(told.map(([key, value]) => [key, value === "true" ? true : Number.parseInt(value!) || 100_000]))
    await space.file("~/.nimlet/config.json", JSON.stringify({ agent }))
    const run = await space.nimlet(["doctor", "--json"])
    expect(run.stdout).not.toBe("")
    expect(JSON.stringify(JSON.parse(run.stdout).findings)).not.toContain("agent.")
    await space.file("~/.nimlet/config.json", JSON.stringify({ agent: { ...agent, keep_recent_tokens: "many" } }))
    expect((await space.nimlet(["-p", "--provider", "offline", "ls"])).stderr).toContain("keep_recent_tokens")
  })

  it("tell what runs unasked, tools of extensions among it", () => {
    expect(section(guide("trust.md"), "Permission")).toMatch(/tools of extensions .*\| ask the first time/)
  })

  it("tell how a model is scripted, by a script that plays", async () => {
    await using space = await makeWorkspace()
    await space.file("a.txt", "alpha\n")
    await space.file("script.json", json(section(guide("machine-modes.md"), "A model that plays a script")))
    const run = await space.nimlet(["--mode", "json", "--provider", "scripted", "--script", "script.json", "go"])
    expect(run.code).toBe(0)
    expect(records(run.stdout).filter(({ type }) => type === "tool_result").map(({ tool_name }) => tool_name)).toEqual(["read", "glob", "ls"])
    expect(records(run.stdout).find(({ final, type }) => type === "message" && final === true)?.["content"]).toBe("That is ")
  })
})
