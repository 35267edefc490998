import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, FileSystem } from "effect"
import { place, screen, startAll, until, workers } from "./kit.ts"

const run = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.scoped(effect).pipe(Effect.provide(workers()))
const module = (definition: string) => `
  import { Extension } from "@nimlet/sdk"
  import { Effect, Schema } from "effect"
  let cancelled = 0
  export default Extension.define({ name: "sdk", ${definition} })
`

describe("an extension of the SDK on a thread", () => {
  it.live("offers tools, commands and hooks, in effects and promises, beside modules of the other API", () =>
    run(Effect.gen(function*() {
      const front = screen((kind, prompt) => kind === "confirm" ? prompt === "Sure?" : "typed")
      const { diagnostics, extensions, hooks, report, watched } = yield* startAll({
        screen: front,
        files: {
          "a.ts": module(`
            tools: {
              greet: {
                description: "Greets.",
                input: Schema.Struct({ name: Schema.String }),
                capabilities: ["read"],
                run: ({ name }, { confirm, progress }) => Effect.gen(function*() {
                  yield* progress("hm")
                  return { content: (yield* confirm("Sure?")) ? "Hello, " + name : "no", details: { name } }
                })
              },
              wait: { description: "Waits.", input: { type: "object" }, run: () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => { cancelled++ })) },
              breaks: { description: "Breaks.", input: { type: "object" }, run: async () => { throw new Error("broken") } }
            },
            commands: { count: { run: async (_, { notify, run }) => { await run(notify("cancelled " + cancelled, "warning")) } } },
            hooks: {
              tool_call: ({ arguments: args }) => ({ arguments: { ...args, chain: args.chain + "-sdk" } }),
              message_end: () => Effect.fail(new Error("cannot"))
            }
          `),
          "b.ts": "export default (pi: any) => { pi.on('tool_call', (event: any) => { event.input.chain += '-pi' }) }"
        }
      })
      assert.deepStrictEqual([report.started, report.warnings], [["a", "b"], []])
      const tools = yield* extensions.tools
      assert.deepStrictEqual(tools.map(({ capabilities, name, parallel }) => [name, capabilities, parallel]), [
        ["greet", ["read"], true], ["wait", ["write", "shell", "network"], false], ["breaks", ["write", "shell", "network"], false]
      ])
      const told: Array<string> = []
      const reply = yield* extensions.callTool("greet", { name: "you" }, (text) => Effect.sync(() => void told.push(text)))
      assert.deepStrictEqual(reply, { content: [{ type: "text", text: "Hello, you" }], isError: false, details: { name: "you" } })
      assert.deepStrictEqual(told, ["hm"])
      assert.deepInclude(yield* extensions.callTool("breaks", {}), { isError: true, content: [{ type: "text", text: "broken" }] })
      const waiting = yield* Effect.forkChild(extensions.callTool("wait", {}))
      yield* until(extensions.figures, ([one]) => one!.requests.open === 1)
      yield* Fiber.interrupt(waiting)
      yield* until(Effect.andThen(extensions.runCommand("count", ""), Effect.sync(() => front.notices().at(-1))), (notice) => notice === "cancelled 1")
      const outcome = yield* hooks.run("tool_call", { tool: "t", arguments: { chain: "" } })
      assert.deepInclude(outcome, { payload: { tool: "t", arguments: { chain: "-sdk-pi" } }, changedBy: ["a", "b"] })
      const said = yield* watched(hooks.run("message_end", { ...place, role: "assistant", text: "kept" }))
      assert.strictEqual(said.payload.text, "kept")
      assert.match(diagnostics.at(-1)!.message, /extension 'a' .*cannot/)
    })))

  it.live("is one more actor: what it loops or throws costs nobody else, and it is named", () =>
    run(Effect.gen(function*() {
      const { diagnostics, extensions, folder } = yield* startAll({
        files: {
          "bad.ts": "import { writeFileSync } from 'node:fs'\n" + module(`tools: {
            loops: { description: "Loops.", input: { type: "object" }, run: ({ begun }) => { writeFileSync(String(begun), ""); for (;;) {} } }
          }`),
          "thrower.ts": module(`tools: {
            late: { description: "Throws later.", input: { type: "object" }, run: () => { setTimeout(() => { throw new Error("late") }, 1); return Effect.never } }
          }`),
          "good.ts": module(`commands: { fine: { run: () => "fine" } }`)
        }
      })
      const crashed = yield* Effect.flip(extensions.callTool("late", {}))
      assert.strictEqual(crashed.reason, "crashed")
      const fs = yield* FileSystem.FileSystem
      const looping = yield* Effect.forkChild(extensions.callTool("loops", { begun: `${folder}/begun` }))
      yield* until(fs.exists(`${folder}/begun`), (begun) => begun)
      yield* Fiber.interrupt(looping)
      assert.deepStrictEqual(yield* extensions.runCommand("fine", ""), { message: "fine" })
      yield* until(Effect.sync(() => diagnostics.map(({ message }) => message).join("\n")), (all) => all.includes("in tool loops"))
      const all = diagnostics.map(({ message }) => message).join("\n")
      assert.match(all, /extension 'thrower' threw Error: late .* in tool late/)
      assert.match(all, /did not respond to cancel and was ended in tool loops/)
    })))
})
