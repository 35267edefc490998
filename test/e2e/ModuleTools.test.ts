import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { checkRecords } from "@nimlet/protocol"
import { startNimlet } from "@nimlet/sdk"
import { startModelStub } from "../kit/ModelStub.ts"
import { anthropic, chat, chatConfig } from "../kit/Providers.ts"
import { makeWorkspace, records, type Workspace } from "../kit/Workspace.ts"

const json = ["--mode", "json", "--provider", "offline"]
const root = "~/.atomic/agent/extensions"

/** Plays calls, one step each, then says done. */
const script = (space: Workspace, ...steps: ReadonlyArray<unknown>) => space.file("script.json", JSON.stringify({ steps: [...steps, { text: "done" }] }))
const scripted = ["--script", "script.json", "--no-session"]
const resultsIn = (stdout: string) => records(stdout).filter(({ type }) => type === "tool_result")

const deciding = (name: string) => `
import { createStructuredOutputTool } from "@bastani/atomic"
import { Type } from "typebox"
export default (pi) => {
  const schema = Type.Object({ verdict: Type.String() })
  pi.registerTool(createStructuredOutputTool({ schema, output: { outputPath: "verdict.json" }${name === "" ? "" : `, name: ${JSON.stringify(name)}`} }))
}`

describe("a structured answer", () => {
  // A-140 A-147 A-148 A-149 A-150
  it("is what print mode writes, in full and alone, and ends the run", async () => {
    await using space = await makeWorkspace()
    await space.file(`${root}/decide.ts`, deciding("final_decision"))
    await script(space, { tool: "final_decision", args: { verdict: "x".repeat(60_000) } })
    const run = await space.nimlet(["-p", ...scripted, "go"])
    expect([run.code, run.stderr]).toEqual([0, ""])
    expect(run.stdout).toBe(`${JSON.stringify({ verdict: "x".repeat(60_000) }, undefined, 2)}\n`)
    expect(JSON.parse(readFileSync(join(space.work, "verdict.json"), "utf8"))).toEqual({ verdict: "x".repeat(60_000) })
  })

  it("ends a JSON run with its result, which says so, and is shown in a terminal's one-shot", async () => {
    await using space = await makeWorkspace()
    await space.file(`${root}/decide.ts`, deciding(""))
    await script(space, { tool: "structured_output", args: { verdict: "fine" } })
    const run = await space.nimlet(["--mode", "json", ...scripted, "go"])
    const all = records(run.stdout)
    expect([run.code, checkRecords(all)]).toEqual([0, []])
    expect(resultsIn(run.stdout)).toMatchObject([{ tool_name: "structured_output", terminate: true, output: "{\n  \"verdict\": \"fine\"\n}" }])
    expect(all.filter(({ type }) => type === "step_start")).toHaveLength(1)
    expect(all.at(-1)).toMatchObject({ type: "session_end", success: true })
    expect(all.at(-2)!["answer"]).toBe(resultsIn(run.stdout)[0]!["tool_id"])
    const shown = await space.nimlet([...scripted, "go"])
    expect(shown.stdout).toContain("\"verdict\": \"fine\"")
  })

  it("is the answer that a program's client gets, too", async () => {
    await using space = await makeWorkspace()
    await space.file(`${root}/decide.ts`, deciding(""))
    await script(space, { text: "I think.", tool: "structured_output", args: { verdict: "fine" } })
    const bin = process.env["NIMLET_BIN"] ?? join(import.meta.dirname, "../../apps/cli/dist/nimlet.mjs")
    await using client = await startNimlet({ bin, args: scripted, cwd: space.work, env: { PATH: process.env["PATH"]!, HOME: space.home } })
    expect(await client.prompt("go")).toEqual({ success: true, text: "{\n  \"verdict\": \"fine\"\n}", error: undefined })
    expect(await client.prompt("again")).toMatchObject({ success: true, text: "done" })
  })

  it("is none when another tool ends the run: print mode writes nothing then, whatever was said before", async () => {
    await using space = await makeWorkspace()
    await space.file(`${root}/deploy.ts`, `export default (pi) => pi.registerTool({
      name: "deploy", label: "Deploy", description: "Deploys.", parameters: { type: "object", properties: {} },
      execute: async () => ({ content: [{ type: "text", text: "deployed" }], details: {}, terminate: true })
    })`)
    await script(space, { text: "I look first.", tool: "deploy", args: {} })
    const run = await space.nimlet(["-p", ...scripted, "go"])
    expect([run.code, run.stdout, run.stderr]).toEqual([0, "", ""])
    const stream = records((await space.nimlet(["--mode", "json", ...scripted, "go"])).stdout)
    expect(checkRecords(stream)).toEqual([])
    expect(stream.at(-2)).not.toHaveProperty("answer")
  })

  // A-144 A-151 A-152
  it("is there only where it is registered, and in an allowlist only by its name", async () => {
    await using space = await makeWorkspace()
    const none = await space.nimlet(["--tools", "read,structured_output", ...json, "hi"])
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("no tool is named structured_output")])
    await space.file(`${root}/decide.ts`, deciding("final_decision"))
    await script(space, { tool: "final_decision", args: { verdict: "fine" } })
    const without = await space.nimlet(["--tools", "read", "--mode", "json", ...scripted, "go"])
    expect(resultsIn(without.stdout)).toMatchObject([{ is_error: true, output: "Unknown tool: final_decision" }])
    const named = await space.nimlet(["--tools", "read,final_decision", "-p", ...scripted, "go"])
    expect(named.stdout).toBe("{\n  \"verdict\": \"fine\"\n}\n")
  })

  // A-141 A-142
  it("does not end a run beside a result that does not, or when its call is refused", async () => {
    await using space = await makeWorkspace()
    await space.file(`${root}/decide.ts`, deciding(""))
    await space.file("a.txt", "a")
    await script(space, { tools: [{ name: "read", args: { path: "a.txt" } }, { name: "structured_output", args: { verdict: "fine" } }] })
    const beside = await space.nimlet(["-p", ...scripted, "go"])
    expect(beside.stdout).toBe("done\n")
    await script(space, { tool: "structured_output", args: { verdict: "fine" } })
    await space.file(`${root}/guard.ts`, "export default (pi) => { pi.on('tool_call', () => ({ block: true, reason: 'not yet' })) }")
    const refused = await space.nimlet(["-p", ...scripted, "go"])
    expect(refused.stdout).toBe("done\n")
  })
})

describe("a built-in tool's place", () => {
  // A-197 A-198 A-203 A-207 A-209 A-210
  it("is taken by a tool of its name, which keeps a log and refuses; its snippet and guidelines are not taken over", async () => {
    await using stub = await startModelStub([{ tools: [{ name: "read", args: { path: "a.txt" } }] }, { tools: [{ name: "read", args: { path: ".env" } }] }, { text: "ok" }])
    await using space = await makeWorkspace()
    await space.file("a.txt", "content of a")
    await space.file(`${root}/override.ts`, `
      import { appendFile, readFile } from "node:fs/promises"
      import { resolve } from "node:path"
      import { Type } from "typebox"
      export default (pi) => {
        for (const name of ["bash", "edit", "write"]) pi.registerTool({ name, label: name, description: "my " + name, parameters: Type.Object({}), execute: async () => ({ content: [] }) })
        pi.registerTool({
          name: "read", label: "read", description: "Reads a file, and notes who wanted it.", parameters: Type.Object({ path: Type.String() }),
          async execute(_id, { path }, _signal, _update, ctx) {
            const file = resolve(ctx.cwd, path.replace(/^@/, ""))
            await appendFile(resolve(ctx.cwd, "access.log"), path + "\\n")
            if (path.endsWith(".env")) throw new Error("access denied: " + path)
            return { content: [{ type: "text", text: await readFile(file, "utf8") }], details: {} }
          }
        })
      }`)
    const run = await space.nimlet(["--mode", "json", ...anthropic.args, "go"], { env: anthropic.env(stub.url) })
    expect(resultsIn(run.stdout).map(({ is_error, output }) => [is_error, output])).toEqual([[false, "content of a"], [true, "access denied: .env"]])
    expect(readFileSync(join(space.work, "access.log"), "utf8")).toBe("a.txt\n.env\n")
    expect(run.stdout).toContain("extension tool 'read' replaces the built-in tool of that name")
    const { system, tools } = stub.requests[0]!.body as any
    expect(tools.filter(({ name }: any) => ["bash", "edit", "read", "write"].includes(name)).map(({ description }: any) => description)).toEqual([
      "Reads a file, and notes who wanted it.", "my edit", "my write", "my bash"
    ])
    const text: string = system.map(({ text }: any) => text).join("\n")
    expect(text).not.toMatch(/Available tools:.*\bread\b/)
    expect(text).not.toContain("read a file before you edit it")
  })

  // A-202
  it("stays empty with --no-builtin-tools, while tools of extensions stay on", async () => {
    await using stub = await startModelStub([{ text: "ok" }])
    await using space = await makeWorkspace()
    await space.file("mine.ts", "export default (pi) => { pi.registerTool({ name: 'mine', label: 'm', description: 'm', parameters: {}, execute: async () => ({ content: [] }) }) }")
    await space.nimlet(["-p", "--no-builtin-tools", "-e", "mine.ts", ...anthropic.args, "go"], { env: anthropic.env(stub.url) })
    expect((stub.requests[0]!.body as any).tools.map(({ name }: any) => name)).toEqual(["mine"])
  })
})

describe("tools that an extension switches on and off", () => {
  // A-100 A-194 A-195 A-196
  it("are offered from the next request on, which is told in its place in the conversation, once", async () => {
    const switching = { tools: [{ name: "switch", args: { names: ["switch", "extra"] } }] }
    await using stub = await startModelStub([switching, { tools: [{ name: "extra", args: {} }] }, { text: "ok" }, { text: "again" }])
    await using space = await makeWorkspace()
    await space.file("~/.nimlet/config.json", chatConfig(stub.url))
    await space.file(`${root}/switch.ts`, `
      import { Type } from "typebox"
      export default (pi) => {
        const tool = (name, parameters, execute, more) => pi.registerTool({ name, label: name, description: name, parameters, execute, ...more })
        tool("switch", Type.Object({ names: Type.Array(Type.String()) }), async (_id, { names }) => {
          const before = pi.getAllTools().length
          pi.setActiveTools(names)
          return { content: [{ type: "text", text: JSON.stringify([pi.getActiveTools(), pi.getAllTools().length === before]) }] }
        })
        tool("extra", Type.Object({}), async () => ({ content: [{ type: "text", text: "extra ran" }] }), { promptSnippet: "does more", promptGuidelines: ["Use extra when asked."] })
        pi.on("session_start", () => pi.setActiveTools(pi.getAllTools().map(({ name }) => name).filter((name) => name !== "extra")))
      }`)
    const run = await space.nimlet(["--mode", "json", ...chat.args, "go"], { env: chat.env(stub.url) })
    expect(resultsIn(run.stdout).map(({ output }) => output)).toEqual([JSON.stringify([["switch", "extra"], true]), "extra ran"])
    const [first, second, third] = stub.requests.map(({ body }) => body as any)
    const names = (body: any): ReadonlyArray<string> => body.tools.map((tool: any) => tool.function.name)
    expect(names(first)).toEqual(expect.arrayContaining(["read", "bash", "switch"]))
    expect(names(first)).not.toContain("extra")
    expect(first.messages[0].content).not.toContain("Use extra when asked.")
    expect(names(second)).toEqual(["switch", "extra"])
    expect(second.messages.map(({ role }: any) => role)).toEqual(["system", "user", "assistant", "tool", "user"])
    expect(second.messages[3].content).toBe(JSON.stringify([["switch", "extra"], true]))
    expect(second.messages[4].content).toContain("These tools are available from now on: extra (does more).\nThese tools are no longer available: ")
    expect(second.messages[4].content).toContain("Use extra when asked.")
    expect(third.messages.slice(0, 5)).toEqual(second.messages)
    expect(third.messages.slice(5).map(({ role }: any) => role)).toEqual(["assistant", "tool"])
    // It stays in its place when the session goes on; what was chosen is the session's extensions' to choose again.
    const again = await space.nimlet(["--mode", "json", "--resume", ...chat.args, "and now?"], { env: chat.env(stub.url) })
    expect([again.code, again.stderr]).toEqual([0, ""])
    const last = stub.requests[3]!.body as any
    expect(last.messages.slice(1, 5)).toEqual(second.messages.slice(1))
    expect(names(last)).not.toContain("extra")
  })
})

describe("one turn's calls", () => {
  // A-103 A-106 A-107 A-108
  it("lose no change of one file that a module's tool and the built-in edit make", async () => {
    await using space = await makeWorkspace()
    await space.file("list.txt", "one\ntwo\nthree\n")
    await space.file(`${root}/append.ts`, `
      import { withFileMutationQueue } from "@bastani/atomic"
      import { readFile, writeFile } from "node:fs/promises"
      import { resolve } from "node:path"
      import { Type } from "typebox"
      export default (pi) => {
        pi.registerTool({
          name: "append", label: "append", description: "Appends a line, slowly.", parameters: Type.Object({ line: Type.String() }),
          execute: (_id, { line }, _signal, _update, ctx) => {
            const file = resolve(ctx.cwd, "list.txt")
            return withFileMutationQueue(file, async () => {
              const before = await readFile(file, "utf8")
              await new Promise((done) => setTimeout(done, 30))
              await writeFile(file, before + line + "\\n")
              return { content: [{ type: "text", text: "appended" }], details: {} }
            })
          }
        })
      }`)
    await script(space, { tool: "read", args: { path: "list.txt" } }, {
      tools: [
        { name: "append", args: { line: "four" } },
        { name: "append", args: { line: "five" } },
        { name: "edit", args: { path: "@list.txt", old_text: "two", new_text: "2" } },
        { name: "append", args: { line: "six" } }
      ]
    })
    const run = await space.nimlet(["--mode", "json", ...scripted, "go"])
    expect(resultsIn(run.stdout).filter(({ is_error }) => is_error === true)).toEqual([])
    expect(readFileSync(join(space.work, "list.txt"), "utf8").split("\n").filter((line) => line !== "").sort()).toEqual(["2", "five", "four", "one", "six", "three"])
  })
})
