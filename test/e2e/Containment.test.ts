/** What a bad TypeScript extension costs the program: bounded time, a record that names it, and nothing of anybody else's. */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { checkRecords } from "@nimlet/protocol"
import { startRpc } from "../kit/RpcDriver.ts"
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
    await space.file("~/.pi/agent/extensions/bad/package.json", packed({ response_timeout_seconds: 4 }))
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

  it("that loops, or fills its heap, in a command leaves the program free to answer others meanwhile, and to go on", async () => {
    await using space = await makeWorkspace()
    await space.file("~/.pi/agent/extensions/bad.mjs", `export default (pi) => {
      pi.registerCommand("loop", { handler: async () => { for (const end = Date.now() + 3_000; Date.now() < end;); } })
      pi.registerCommand("heap", { handler: async () => { for (const all = [];; await 0) for (let n = 0; n < 1_000; n++) all.push({ n, text: "x" + all.length }) } })
    }`)
    const rpc = startRpc(space, ["--provider", "offline"])
    await rpc.ask("get_state")
    const looping = rpc.send("prompt", { message: "/loop" })
    await rpc.until(({ prompt, type }) => type === "run_start" && prompt === "/loop")
    const began = performance.now()
    for (let n = 0; n < 5; n++) expect(await rpc.ask("get_state")).toMatchObject({ ok: true })
    const took = performance.now() - began
    expect(rpc.all().some((record) => record["type"] === "run_end")).toBe(false)
    expect(took).toBeLessThan(2_000)
    expect(await rpc.turn(looping)).toMatchObject({ success: true })
    expect(await rpc.turn(rpc.send("prompt", { message: "/heap" }))).toMatchObject({ success: false })
    await rpc.until(({ message, type }) => type === "diagnostic" && /'bad' held \d+ MB and was ended in command \/heap/.test(message))
    expect(await rpc.turn(rpc.send("prompt", { message: "list the files" }))).toMatchObject({ success: true })
    expect((await rpc.end()).code).toBe(0)
  }, 40_000)

  it("that is slow to load holds up the first turn and nothing else", async () => {
    await using space = await makeWorkspace()
    await space.file("~/.pi/agent/extensions/bad.mjs", "export default async () => { await new Promise((done) => setTimeout(done, 4_000)) }")
    const rpc = startRpc(space, ["--provider", "offline"])
    const began = performance.now()
    const started = await rpc.until(({ type }) => type === "session_start").then(() => performance.now() - began)
    const turn = rpc.send("prompt", { message: "list the files" })
    expect(await rpc.turn(turn)).toMatchObject({ success: true })
    expect(started).toBeLessThan(3_500)
    expect(performance.now() - began).toBeGreaterThan(3_500)
    await rpc.end()
  }, 30_000)

  it("that leaves a timer and much memory behind is gone with each reload", async () => {
    await using space = await makeWorkspace()
    await space.file("~/.pi/agent/extensions/bad.mjs", `export default (pi) => {
      pi.on("session_start", () => { const held = Buffer.alloc(16 * 1024 * 1024, 1); setInterval(() => { held[0]++ }, 50) })
    }`)
    const rpc = startRpc(space, ["--provider", "offline"])
    const megabytes = () => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${rpc.running.child.pid}/status`, "utf8"))![1]) / 1024
    const reload = async (times: number) => {
      for (let n = 0; n < times; n++) expect(await rpc.ask("reload")).toMatchObject({ ok: true })
    }
    await reload(4)
    const before = megabytes()
    await reload(20)
    // Each that stayed would hold 16 MB and its heap.
    expect(megabytes() - before).toBeLessThan(100)
    expect((await rpc.end()).code).toBe(0)
  }, 60_000)

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
