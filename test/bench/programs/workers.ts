/**
 * What modules on worker threads cost: how soon they are ready, what they weigh, what their hooks add to a tool call. It runs
 * the built worker half; keep the machine idle, threads wake slowly on a busy one. Prints its figures as JSON.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { layerLauncher } from "@nimlet/atomic"
import { Extensions, Hooks } from "@nimlet/extension"

const dist = new URL("../../../apps/cli/dist/", import.meta.url)
const folder = mkdtempSync(join(tmpdir(), "workers-"))
const hooks = "pi.on('tool_call', () => {}); pi.on('tool_result', () => {})"
const texts = {
  mjs: `export default (pi) => { ${hooks} }`,
  ts: `import type { ExtensionAPI } from "@bastani/atomic"\nexport default (pi: ExtensionAPI) => { ${hooks} }`,
  sdk: `import { Extension } from "@nimlet/sdk"
import { Effect } from "effect"
export default Extension.define({ name: "sdk", hooks: { tool_call: () => Effect.void, tool_result: () => Effect.void } })`
}
const endings = { mjs: "mjs", ts: "ts", sdk: "sdk.ts" }
const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN

const start = (count: number, kind: keyof typeof texts) =>
  Effect.gen(function*() {
    const extensions = yield* Extensions
    yield* extensions.stop
    const paths = Array.from({ length: count }, (_, n) => join(folder, `e${n}.${endings[kind]}`))
    for (const path of paths) writeFileSync(path, texts[kind])
    const before = process.memoryUsage().rss
    const begun = performance.now()
    const { started } = yield* extensions.start({
      roots: [], paths, workspace: folder, sessionId: "s", trusted: true, mode: "print", logs: folder, environment: {}, reservedTools: []
    })
    const took = performance.now() - begun
    if (started.length !== count) return yield* Effect.die(new Error("not all have started"))
    return { ready: took, megabytes: (process.memoryUsage().rss - before) / count / (1 << 20) }
  })

const rounds = (times: number, count: number, kind: keyof typeof texts) =>
  Effect.map(Effect.all(Array.from({ length: times }, () => start(count, kind))), (all) => ({
    ready: median(all.map(({ ready }) => ready)),
    megabytes: median(all.map(({ megabytes }) => megabytes))
  }))

const call = Effect.flatMap(Hooks, (hooks) =>
  Effect.andThen(
    hooks.run("tool_call", { tool: "t", arguments: {} }),
    hooks.run("tool_result", { tool: "t", arguments: {}, output: "", is_error: false })
  ))

const perCall = Effect.gen(function*() {
  for (let n = 0; n < 300; n++) yield* call
  const times: Array<number> = []
  for (let n = 0; n < 1_000; n++) {
    const begun = performance.now()
    yield* call
    times.push(performance.now() - begun)
  }
  return median(times)
})

const layer = Hooks.layer.pipe(
  Layer.provideMerge(Extensions.layerNoDeps.pipe(Layer.provide(layerLauncher({
    cache: join(folder, "cache"),
    files: { entry: new URL("worker.mjs", dist), module: (name) => new URL(`worker-${name}.mjs`, dist) }
  })))),
  Layer.provideMerge(NodeServices.layer)
)

const measured = await Effect.runPromise(
  Effect.gen(function*() {
    yield* start(1, "mjs")
    const javascript = yield* rounds(9, 1, "mjs")
    const typescript = yield* rounds(9, 1, "ts")
    const ten = yield* rounds(5, 10, "ts")
    const perCallOfTen = yield* perCall
    const sdk = yield* rounds(9, 1, "sdk")
    const tenOfSdk = yield* rounds(3, 10, "sdk")
    return {
      javascript: javascript.ready, typescript: typescript.ready, ten: ten.ready, megabytes: ten.megabytes, perCall: perCallOfTen,
      sdk: sdk.ready, sdkMegabytes: tenOfSdk.megabytes
    }
  }).pipe(Effect.scoped, Effect.provide(layer))
)
rmSync(folder, { recursive: true, force: true })
console.log(JSON.stringify(measured))
process.exit()
