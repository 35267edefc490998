/** What a bad TypeScript extension costs the program: bounded time, a record that names it, and nothing of anybody else's. */
import { describe, expect, it } from "vitest"
import { checkRecords } from "@nimlet/protocol"
import { lastingSurvivors, makeWorkspace, records } from "../kit/Workspace.ts"

const json = ["--mode", "json", "--provider", "offline"]
const good = "export default (pi) => { pi.on('tool_result', () => ({ content: [{ type: 'text', text: 'good was here' }] })) }"
const packed = (manifest: object) => JSON.stringify({ pi: { extensions: ["./index.mjs"], ...manifest } })

describe("a bad extension", () => {
  const cases: ReadonlyArray<readonly [string, string, RegExp, number]> = [
    ["whose session_start never settles", "pi.on('session_start', () => new Promise(() => {}))", /'bad': extension response timed out/, 0],
    ["whose session_start loops for ever", "pi.on('session_start', () => { for (;;) {} })", /'bad': extension response timed out/, 0],
    ["that fills its heap at a turn", "pi.on('turn_start', () => { const all = []; for (;;) all.push({ n: all.length, text: String(all.length) }) })", /'bad' held \d+ MB and was ended on turn_start|'bad': extension response timed out/, 0],
    ["that ends the process it thinks it is at a turn", "pi.on('turn_start', () => process.exit(7))", /'bad' exited with code 7 on turn_start/, 0],
    ["whose context hook never settles", "pi.on('context', () => new Promise(() => {}))", /'bad': extension response timed out/, 0]
  ]
  it.each(cases)("%s ends with a record that names it; the turn ends as it should, with the others' hooks", async (_, body, named, code) => {
    await using space = await makeWorkspace()
    await space.file("~/.pi/agent/extensions/bad/package.json", packed({ response_timeout_seconds: 2 }))
    await space.file("~/.pi/agent/extensions/bad/index.mjs", `export default (pi) => { ${body} }`)
    await space.file("~/.pi/agent/extensions/good.mjs", good)
    const run = await space.nimlet([...json, "run: echo x"])
    const all = records(run.stdout)
    expect(checkRecords(all)).toEqual([])
    expect(run.code).toBe(code)
    expect(all.find(({ type }) => type === "tool_result")?.output).toBe("good was here")
    expect(all.filter(({ message, type }) => type === "diagnostic" && named.test(String(message)))).not.toEqual([])
    expect(await lastingSurvivors(space.root)).toEqual([])
  })

  //
  it("that takes long to end keeps nobody waiting, and its program ends with it", async () => {
    await using space = await makeWorkspace()
    await space.file("~/.pi/agent/extensions/bad.mjs", `import { spawn } from "node:child_process"
      export default (pi) => {
        pi.on("session_start", () => { spawn("sleep", ["600"], { stdio: "inherit" }) })
        pi.on("session_shutdown", () => new Promise((done) => setTimeout(done, 60_000)))
      }`)
    const run = await space.nimlet([...json, "run: echo x"])
    const ended = records(run.stdout).findIndex(({ type }) => type === "run_end")
    expect(ended).toBeGreaterThan(0)
    expect(run.code).toBe(0)
    expect(run.durationMs).toBeLessThan(30_000)
    expect(await lastingSurvivors(space.root)).toEqual([])
  })

  // A-039 A-040
  it("that starts things while it is loaded costs a command that starts no session nothing", async () => {
    await using space = await makeWorkspace()
    await space.file("~/.pi/agent/extensions/eager.mjs", `import { spawn } from "node:child_process"; import { createServer } from "node:net"
      export default (pi) => {
        setInterval(() => {}, 10); createServer().listen(0); spawn("sleep", ["600"], { stdio: "inherit" })
        pi.registerCommand("eager", { description: "is eager", handler: async () => {} })
      }`)
    const run = await space.nimlet(["extension", "list"])
    expect([run.code, run.stderr]).toEqual([0, ""])
    expect(run.stdout).toContain("eager")
    expect(await lastingSurvivors(space.root)).toEqual([])
  })
})
