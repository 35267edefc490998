/**
 * Many sessions in one process, as library layers: 200 that do nothing, then 50 that run at once, each with two extensions of
 * its own. Prints its figures as JSON; memory is that of this process, extensions beside it have their own.
 *
 *     node --expose-gc test/bench/programs/scale.ts [--quick]
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import * as LanguageModel from "effect/ai/LanguageModel"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Agent } from "@nimlet/agent"
import { Extensions, Hooks, rootsOf } from "@nimlet/extension"
import { Scripted } from "@nimlet/provider"
import { Sessions } from "@nimlet/session"
import { builtins, layerLocal, localTools } from "@nimlet/tools"

const quick = process.argv.includes("--quick")
const [idle, active] = quick ? [50, 10] : [200, 50]
const folder = mkdtempSync(join(tmpdir(), "nimlet-scale-"))

/** The smallest extension there can be: a shell that answers whatever has an id. */
const program = `#!/bin/sh
echo '{"type":"register","commands":[],"events":["tool_call","tool_result"]}'
while read -r line; do
  case $line in
    *'"type":"shutdown"'*) exit ;;
    *'"type":"event"'*) id=\${line#*'"id":"'}; echo '{"type":"response","id":"'"\${id%%'"'*}"'"}' ;;
  esac
done
`

/** A home with two extensions and a workspace with a file. */
const place = (n: number) => {
  const home = join(folder, `home-${n}`)
  for (const name of ["one", "two"]) {
    const own = join(home, ".nimlet/extensions", name)
    mkdirSync(own, { recursive: true })
    writeFileSync(join(own, "extension.json"), JSON.stringify({ name, command: ["./run.sh"] }))
    writeFileSync(join(own, "run.sh"), program)
    chmodSync(join(own, "run.sh"), 0o755)
  }
  const workspace = join(folder, `work-${n}`)
  mkdirSync(workspace)
  writeFileSync(join(workspace, "a.txt"), "some text\n")
  return { home, workspace }
}

/** An agent of its own: session, hooks, tools, and extensions where they are wanted. */
const agentOf = (n: number, extended: boolean) =>
  Effect.gen(function*() {
    const { home, workspace } = place(n)
    const hosted = extended ? Layer.provideMerge(Hooks.layer, Extensions.layer) : Layer.merge(Extensions.layerNone, Hooks.layerNone)
    const model = yield* Scripted.make({ steps: [{ tool: "read", args: { path: "a.txt" }, repeat: 5 }, { text: "Done." }] })
    const services = yield* Layer.build(Layer.mergeAll(hosted, layerLocal({ workspace }), Sessions.layer(join(home, "sessions"), { pid: process.pid, isAlive: () => true }), Layer.succeed(LanguageModel.LanguageModel, model)))
    return yield* Effect.gen(function*() {
      const session = yield* (yield* Sessions).create({ workspace, persist: true })
      const tools = yield* localTools(builtins())
      const options = {
        roots: rootsOf({ home, workspace, trusted: false }), paths: [], workspace, sessionId: session.id, trusted: false, mode: "print", logs: home,
        environment: { PATH: process.env["PATH"] ?? "" }, reservedTools: []
      } as const
      const layer = Agent.layer({
        session, provider: "scripted", model: "script", contextWindow: 100_000, system: "Be brief.", tools,
        ...(extended ? { extensions: () => Effect.succeed(options) } : {})
      })
      return Context.get(yield* Layer.build(layer), Agent)
    }).pipe(Effect.provideContext(services))
  })

const memory = Effect.sync(() => {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().rss / 1024
})

/** `count` agents at once in a scope: the memory that each takes once all stand, and what `use` finds. */
const many = <A>(count: number, extended: boolean, from: number, use: (agents: ReadonlyArray<Agent["Service"]>) => Effect.Effect<A>) =>
  Effect.scoped(Effect.gen(function*() {
    const before = yield* memory
    const agents = yield* Effect.forEach(Array.from({ length: count }), (_, n) => agentOf(from + n, extended), { concurrency: 10 })
    const each = ((yield* memory) - before) / count
    return { each, used: yield* use(agents) }
  }))

const measured = Effect.gen(function*() {
  // What is loaded at first use is no session's.
  yield* many(1, true, 0, ([agent]) => agent!.prompt({ typed: "go" }))
  const quiet = yield* many(idle, false, 1_000, () => Effect.void)
  const busy = yield* many(active, true, 2_000, (agents) =>
    Effect.gen(function*() {
      const start = performance.now()
      const results = yield* Effect.forEach(agents, (agent) => agent.prompt({ typed: "go" }), { concurrency: "unbounded" })
      if (results.some(({ success, text }) => !success || text !== "Done.")) throw new Error("a run has failed")
      return performance.now() - start
    }))
  return { idle: quiet.each, active: busy.each, activeWall: busy.used }
})

const scope = await Effect.runPromise(Scope.make())
try {
  const context = await Effect.runPromise(Layer.buildWithScope(NodeServices.layer, scope))
  console.log(JSON.stringify(await Effect.runPromise(Effect.provideContext(measured, context))))
} finally {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
}
