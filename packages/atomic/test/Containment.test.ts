import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Fiber } from "effect"
import { place, startAll, until, workers } from "./kit.ts"

const run = <A, E, R>(effect: Effect.Effect<A, E, R>, options = {}) => Effect.scoped(effect).pipe(Effect.provide(workers(options)))

/** An extension that does something bad when the command `bad` is run, and one beside it that counts turns. */
const beside = "export default (pi) => { let n = 0; pi.on('session_info_changed', () => { n++ }); pi.registerCommand('n', { handler: async (_, ctx) => ctx.ui.notify(`n=${n}`) }) }"
const bad = (body: string, manifest = {}) => ({
  "bad/package.json": JSON.stringify({ pi: { extensions: ["./index.mjs"], ...manifest } }),
  "bad/index.mjs": `import cp, { execSync, spawn } from "node:child_process"; import fs from "node:fs"
export default (pi) => { pi.registerCommand("bad", { handler: async (args, ctx) => { ${body} } }); pi.on("session_info_changed", async () => {}) }`,
  "good.mjs": beside
})


describe("what a module does by accident", () => {
  const crashes: ReadonlyArray<readonly [string, string, RegExp, object?]> = [
    ["throws in a timer", "setTimeout(() => { throw new Error('late') }, 1); await new Promise(() => {})", /extension 'bad' threw Error: late \(index\.mjs:2\)/],
    ["leaves a rejected promise", "void Promise.reject(new Error('floating')); await new Promise(() => {})", /extension 'bad' threw Error: floating/],
    ["exits", "process.exit(0)", /extension 'bad' exited with code 0 in command \/bad/],
    ["exits in a timer", "setTimeout(() => process.exit(3), 1); await new Promise(() => {})", /extension 'bad' exited with code 3/],
    ["fills its heap", "const all = []; for (;;) all.push({ n: all.length, text: String(all.length) })", /extension 'bad' held \d+ MB and was ended in command \/bad/]
  ]
  it.live.each(crashes)("one that %s is named, restarted, and hurts nobody else", ([, body, expected]) =>
    run(
      Effect.gen(function*() {
        const { diagnostics, extensions, hooks } = yield* startAll({ files: bad(body) })
        const failed = yield* Effect.flip(extensions.runCommand("bad", ""))
        assert.strictEqual(failed.reason, "crashed")
        yield* hooks.run("session_info_changed", { ...place, name: "x" })
        yield* until(extensions.figures, (all) => all.find(({ key }) => key === "bad")?.restarts === 1)
        assert.isTrue(diagnostics.some(({ extension, message }) => extension === "bad" && expected.test(message)), JSON.stringify(diagnostics))
        assert.deepStrictEqual((yield* extensions.figures).map(({ key, restarts }) => [key, restarts]), [["bad", 1], ["good", 0]])
        // The new life works.
        yield* until(Effect.map(extensions.commands, (all) => all.map(({ name }) => name)), (names) => names.includes("bad"))
      }),
      { heapMegabytes: 48 }
    ), 20_000)

  const loops: ReadonlyArray<readonly [string, string]> = [
    ["loops for ever", "for (;;) {}"],
    ["runs an endless regular expression", "/^(a+)+$/.test('a'.repeat(60) + '!')"],
    ["waits for a program", "execSync('sleep 600')"],
    ["waits for ever", "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)"]
  ]
  it.live.each(loops)("one that %s is ended two seconds after its cancel, and its programs with it", ([, body]) =>
    run(Effect.gen(function*() {
      const { diagnostics, extensions, folder } = yield* startAll({ files: bad(`fs.writeFileSync(args, ""); ${body}`) })
      const fs = yield* FileSystem.FileSystem
      const command = yield* Effect.forkChild(extensions.runCommand("bad", `${folder}/begun`))
      yield* until(fs.exists(`${folder}/begun`), (begun) => begun)
      const before = performance.now()
      yield* Fiber.interrupt(command)
      yield* until(extensions.figures, (all) => all.find(({ key }) => key === "bad")?.restarts === 1)
      assert.isBelow(performance.now() - before, 4_500)
      assert.isTrue(
        diagnostics.some(({ message }) => message.includes("extension 'bad' did not respond to cancel and was ended in command /bad")),
        JSON.stringify(diagnostics)
      )
    })), 20_000)

  it.live("memory outside the heap has a limit too", () =>
    run(
      Effect.gen(function*() {
        const { diagnostics, extensions } = yield* startAll({
          files: bad("globalThis.all = []; for (let n = 0; n < 8; n++) globalThis.all.push(Buffer.alloc(16 << 20, 1)); await new Promise(() => {})")
        })
        assert.strictEqual((yield* Effect.flip(extensions.runCommand("bad", ""))).reason, "crashed")
        yield* until(Effect.sync(() => diagnostics.length), (count) => count > 0)
        assert.match(diagnostics[0]!.message, /extension 'bad' held \d+ MB outside its heap and was ended/)
      }),
      { outsideMegabytes: 100 }
    ), 20_000)

  it.live("nothing of it reaches our standard output; it goes to its log", () =>
    run(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { extensions, folder, log } = yield* startAll({
        files: bad(`
          console.log("A-console"); process.stdout.write("B-stdout\\n"); process.stderr.write("C-stderr\\n")
          fs.writeSync(1, "D-fd\\n"); fs.writeFileSync("/dev/stdout", "E-dev\\n")
          execSync("echo F-inherit", { stdio: "inherit" }); cp.spawnSync("sh", ["-c", "echo G-array >&2"], { stdio: ["inherit", "inherit", "inherit"] })
          await new Promise((done) => spawn("echo", ["H-spawn"], { stdio: "inherit" }).on("exit", done))
          try { process.kill(process.pid, "SIGTERM") } catch (error) { console.log("I-" + error.message) }
        `)
      })
      yield* extensions.runCommand("bad", "")
      const text = yield* until(log("bad"), (text) => "ABCDEFGHI".split("").every((letter) => text.includes(`${letter}-`)))
      assert.include(text, "I-an extension may not send signals")
      assert.isTrue(yield* fs.exists(folder))
    })), 20_000)

  it.live("programs it has started end with it", () =>
    run(Effect.gen(function*() {
      const { extensions, folder } = yield* startAll({
        files: bad("const child = spawn('sh', ['-c', 'sleep 600 & sleep 600'], { stdio: 'ignore' }); fs.writeFileSync(args, String(child.pid))")
      })
      yield* extensions.runCommand("bad", `${folder}/pid`)
      const fs = yield* FileSystem.FileSystem
      const pid = yield* fs.readFileString(`${folder}/pid`)
      assert.isTrue(yield* fs.exists(`/proc/${pid}`))
      yield* extensions.stop
      const state = Effect.orElseSucceed(fs.readFileString(`/proc/${pid}/status`), () => "State:\tX")
      yield* until(state, (text) => /State:\t[XZ]/.test(text))
      assert.match(yield* state, /State:\t[XZ]/)
    })), 20_000)

  it.live("a factory that throws, or exports nothing, is named with its place", () =>
    run(Effect.gen(function*() {
      const { report } = yield* startAll({
        files: {
          "a.ts": "export default function () {\n  throw new Error('at once')\n}",
          "b.ts": "export const x = 1",
          "c.ts": "export default async () => { await new Promise((done) => setTimeout(done, 5)); missing() }",
          "d.ts": "import './nowhere.ts'\nexport default () => {}",
          "e.ts": "export default () => {}"
        }
      })
      assert.deepStrictEqual(report.started, ["e"])
      assert.lengthOf(report.warnings, 4)
      assert.match(report.warnings.find((text) => text.includes("'a'"))!, /failed to start: it threw Error: at once \(a\.ts:2\).* before it registered/)
      assert.match(report.warnings.find((text) => text.includes("'b'"))!, /exports no extension as its default/)
      assert.match(report.warnings.find((text) => text.includes("'c'"))!, /missing is not defined/)
      assert.match(report.warnings.find((text) => text.includes("'d'"))!, /nowhere\.ts/)
    })), 20_000)
})
