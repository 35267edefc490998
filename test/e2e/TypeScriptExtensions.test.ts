import { cpSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { checkRecords } from "@nimlet/protocol"
import { lastingSurvivors, makeWorkspace, records } from "../kit/Workspace.ts"

const json = ["--mode", "json", "--provider", "offline"]
const dist = join(import.meta.dirname, "../../apps/cli/dist")

/** Rewrites commands, offers a tool and a command, imports a helper, what the API exports, and syntax that is more than types. */
const one = `import { Type } from "typebox"
import { defineTool, formatSize, type ExtensionAPI } from "@bastani/atomic"
import { loud } from "./lib/loud"
enum Word { Old = "old" }
export default async function (pi: ExtensionAPI) {
  await new Promise<void>((done) => setTimeout(done, 1))
  pi.on("tool_call", (event) => {
    console.log("to the log")
    if (event.input.command?.includes(Word.Old)) event.input.command = event.input.command.replace("old", "new")
    if (event.input.command?.includes("curl")) return { block: true, reason: "no network" }
  })
  pi.registerTool(defineTool({
    name: "size", label: "Size", description: "Says a size.", parameters: Type.Object({ bytes: Type.Number() }),
    async execute(_id, params) { return { content: [{ type: "text", text: loud(formatSize(params.bytes)) }], details: {} } }
  }))
}
`
const loud = "export const loud = (text: string): string => text + '!'\n"

describe("a TypeScript extension", () => {
  // A-044 A-123
  it("works from ~/.atomic/agent/extensions, ~/.pi and -e, from a copy of the program anywhere", async () => {
    await using space = await makeWorkspace()
    cpSync(dist, join(space.root, "copy"), { recursive: true })
    const bin = join(space.root, "copy/nimlet.mjs")
    await space.file("~/.atomic/agent/extensions/one.ts", one)
    await space.file("~/.atomic/agent/extensions/lib/loud.ts", loud)
    const tool = await space.nimlet(["--provider", "offline", "call size {\"bytes\": 2048}"], { bin })
    expect(tool.stderr).toBe("")
    expect(tool.stdout).toContain("2.0KB!")
    const run = await space.nimlet([...json, "run: echo old then run: curl x"])
    const all = records(run.stdout)
    expect(checkRecords(all)).toEqual([])
    const [changed, blocked] = all.filter(({ type }) => type === "tool_result")
    expect(changed?.output).toContain("new")
    expect(blocked).toMatchObject({ is_error: true, output: "approval_denied: no network" })
    expect(run.stdout).not.toContain("to the log")
    expect(readFileSync(join(space.home, ".nimlet/logs/one.log"), "utf8")).toContain("to the log")
  })

  //
  it("is named by -e, with the others switched off", async () => {
    await using space = await makeWorkspace()
    await space.file("~/.pi/agent/extensions/other.ts", "export default (pi) => { pi.on('tool_call', () => ({ block: true, reason: 'other' })) }")
    await space.file("given.mjs", "export default (pi) => { pi.on('tool_call', (event) => { event.input.command = 'echo given' }) }")
    const run = await space.nimlet(["--no-extensions", "-e", "given.mjs", ...json, "run: echo x"])
    expect(records(run.stdout).find(({ type }) => type === "tool_result")?.output).toContain("given")
    const both = await space.nimlet([...json, "run: echo x"])
    expect(records(both.stdout).find(({ type }) => type === "tool_result")?.output).toBe("approval_denied: other")
  })

  it.each([
    ["throws in a timer", "setTimeout(() => { throw new Error('late') }, 5)", "threw Error: late"],
    ["exits", "process.exit(0)", "exited with code 0"],
    ["rejects", "Promise.reject(new Error('floating'))", "threw Error: floating"],
    ["loops for ever in a timer", "setTimeout(() => { for (;;) {} }, 5)", undefined]
  ])("that %s costs the run nothing: it ends in time, with its own exit code, and names it", async (_, body, named) => {
    await using space = await makeWorkspace()
    await space.file("~/.pi/agent/extensions/bad.ts", `export default (pi) => { pi.on("tool_result", () => { ${body} }) }`)
    await space.file("~/.pi/agent/extensions/good.ts", "export default (pi) => { pi.on('tool_result', () => ({ content: [{ type: 'text', text: 'good was here' }] })) }")
    const run = await space.nimlet([...json, named === undefined ? "run: sleep 0.1" : "run `sleep 0.1` then run `sleep 0.4`"])
    const all = records(run.stdout)
    expect(checkRecords(all)).toEqual([])
    expect(run.code).toBe(0)
    // No hook's budget (30 s) was waited out, however loaded the machine.
    expect(run.durationMs).toBeLessThan(20_000)
    expect(all.find(({ type }) => type === "tool_result")?.output).toContain("good was here")
    if (named !== undefined) expect(all.some(({ message, type }) => type === "diagnostic" && String(message).includes(`extension 'bad' ${named}`))).toBe(true)
    expect(await lastingSurvivors(space.root)).toEqual([])
  })

  it("in a project is loaded only when the project is approved", async () => {
    await using space = await makeWorkspace()
    await space.file(".pi/extensions/mine.ts", "export default (pi) => { pi.on('tool_call', () => ({ block: true, reason: 'mine' })) }")
    const output = (run: { stdout: string }) => records(run.stdout).find(({ type }) => type === "tool_result")?.output
    expect(output(await space.nimlet([...json, "run: echo x"]))).toContain("x")
    expect(output(await space.nimlet(["--approve", ...json, "run: echo x"]))).toBe("approval_denied: mine")
  })

  it("has its structured answer for all of print mode's output, and for the answer of a run in JSON mode", async () => {
    await using space = await makeWorkspace()
    await space.file("~/.pi/agent/extensions/answer.ts", `import { createStructuredOutputTool, type ExtensionAPI } from "@bastani/atomic"
export default (pi: ExtensionAPI) => {
  pi.registerTool(createStructuredOutputTool({ schema: { type: "object", properties: { n: { type: "number" } } } }))
}
`)
    await space.file("script.json", JSON.stringify({ steps: [{ text: "Here it is.", tool: "structured_output", args: { n: 7 } }, { text: "never asked for" }] }))
    const printed = await space.nimlet(["-p", "--script", "script.json", "how many?"])
    expect(printed).toMatchObject({ code: 0, stderr: "", stdout: "{\n  \"n\": 7\n}\n" })
    const run = await space.nimlet(["--mode", "json", "--script", "script.json", "how many?"])
    expect(checkRecords(records(run.stdout))).toEqual([])
    expect(records(run.stdout).at(-1)).toMatchObject({ type: "session_end", success: true })
    expect(run.stdout).not.toContain("never asked for")
  })
})
