import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { place, startAll, workers } from "./kit.ts"

const factory = (body: string, head = "") => `${head}
import type { ExtensionAPI } from "@bastani/atomic"
export default function (pi: ExtensionAPI) {
${body}
}`

const run = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.scoped(effect).pipe(Effect.provide(workers()))

describe("a module on its own thread", () => {
  // A-001 A-002 A-004 A-005 A-011 A-012 A-015 A-069 A-070 A-093 A-094 A-114 A-126 A-132
  it.live("registers tools, commands and hooks, and they work", () =>
    run(Effect.gen(function*() {
      const { diagnostics, extensions, hooks, report } = yield* startAll({
        files: {
          "one.ts": factory(`
            let calls: number = 0
            pi.on("tool_call", async (event, ctx) => {
              calls++
              if (event.toolName === "bash") event.input.command = "echo " + event.input.command + " in " + ctx.cwd.slice(0, 1)
              if (event.input.command?.includes("rm")) return { block: true, reason: "no rm" }
            })
            pi.on("tool_result", (event) => ({ content: [...event.content, { type: "text", text: "seen" }] }))
            pi.registerTool({
              name: "greet", label: "Greet", description: "Greets.", parameters: { type: "object", properties: { name: { type: "string" } } },
              async execute(id, params, signal, onUpdate, ctx) {
                onUpdate?.({ content: [{ type: "text", text: "working" }] })
                return { content: [{ type: "text", text: "hello " + params.name + " " + id + " " + signal.aborted }], details: { calls }, terminate: true }
              }
            })
            pi.registerCommand("count", { description: "Counts", handler: async (args, ctx) => { ctx.ui.notify(args + calls, "info") } })
          `)
        }
      })
      assert.deepStrictEqual(report.warnings, [])
      assert.deepStrictEqual(report.started, ["one"])
      const gate = yield* hooks.run("tool_call", { tool: "bash", arguments: { command: "ls" } })
      assert.deepStrictEqual(gate, { _tag: "Continue", payload: { tool: "bash", arguments: { command: "echo ls in /" } }, changedBy: ["one"] })
      const blocked = yield* hooks.run("tool_call", { tool: "bash", arguments: { command: "rm x" } })
      assert.deepStrictEqual(blocked, { _tag: "Blocked", reason: "no rm", blockedBy: ["one"] })
      const result = yield* hooks.run("tool_result", { tool: "bash", arguments: {}, output: "out", is_error: false })
      assert.strictEqual(result.payload.output, "out\nseen")
      const updates: Array<string> = []
      const reply = yield* extensions.callTool("greet", { name: "Ann" }, (text) => Effect.sync(() => void updates.push(text)), "call-1")
      assert.deepStrictEqual(reply, {
        content: [{ type: "text", text: "hello Ann call-1 false" }],
        isError: false,
        details: { calls: 2 },
        terminate: true
      })
      assert.deepStrictEqual(updates, ["working"])
      yield* extensions.runCommand("count", "n=")
      assert.deepStrictEqual(diagnostics, [])
      yield* hooks.run("session_shutdown", { ...place, reason: "quit" })
    })))
})
