/** An agent with real extension processes, over a provider on loopback, in a temporary workspace and home. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem, Layer, Path } from "effect"
import { Extensions, Frontend, type FrontendShape, headless, Hooks, rootsOf } from "@nimlet/extension"
import { Models } from "@nimlet/provider"
import { Sessions } from "@nimlet/session"
import { builtins, layerLocal, localTools } from "@nimlet/tools"
import { type ModelStub, startModelStub } from "../../../test/kit/ModelStub.ts"
import { Agent, type ModelChoice, reservedToolNames } from "../src/index.ts"

/** Where it runs, and what it runs with. */
export interface RealAgent {
  readonly agent: Agent["Service"]
  readonly extensions: Extensions["Service"]
  readonly stub: ModelStub
  /** Holds `work` (the workspace), `home` and `logs`. */
  readonly root: string
  readonly workspace: string
  readonly choose: (model: string) => Effect.Effect<ModelChoice, unknown>
}

/** Runs `body` with an agent over a stub that plays `scenario`; `files` are by their path under the root, programs executable. */
export const withRealAgent = <A, E>(
  { closed, files, scenario }: {
    readonly files: Readonly<Record<string, string>>
    readonly scenario: Parameters<typeof startModelStub>[0]
    /** Called when the agent has ended, before its files are removed. */
    readonly closed?: (place: RealAgent) => void
  },
  body: (place: RealAgent) => Effect.Effect<A, E>,
  { frontend = headless }: { readonly frontend?: FrontendShape } = {}
) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const root = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
    const [workspace, home] = [path.join(root, "work"), path.join(root, "home")]
    for (const folder of [workspace, home]) yield* fs.makeDirectory(folder)
    for (const [name, text] of Object.entries(files)) {
      const file = path.join(root, name)
      yield* fs.makeDirectory(path.dirname(file), { recursive: true })
      yield* fs.writeFileString(file, text, { mode: 0o755 })
    }
    const stub = yield* Effect.acquireRelease(Effect.promise(() => startModelStub(scenario)), (started) => Effect.promise(() => started.close()))
    const services = Layer.mergeAll(
      Layer.provideMerge(Hooks.layer, Extensions.layer),
      Sessions.layer(path.join(root, "sessions")),
      Models.layer({ environment: { ANTHROPIC_BASE_URL: stub.url, ANTHROPIC_API_KEY: "test-key" }, home }),
      layerLocal({ workspace })
    )
    let ended: RealAgent | undefined
    const result = yield* Effect.gen(function*() {
      const session = yield* (yield* Sessions).create({ workspace, persist: true })
      const models = yield* Models
      const { info, layer: model } = yield* models.resolve({ provider: "anthropic", model: "claude-sonnet-4-6" })
      const choose = (name: string) =>
        Effect.map(models.resolve({ provider: "anthropic", model: name }), (chosen): ModelChoice => ({ provider: "anthropic", model: name, layer: chosen.layer }))
      const agent = Agent.layer({
        ...info,
        session,
        system: "Be good.",
        compaction: { context_window: 20_000, reserve_tokens: 10_000, keep_recent_tokens: 1_000 },
        tools: yield* localTools(builtins()),
        extensions: ({ id }) =>
          Effect.succeed({
            roots: rootsOf({ home, workspace, trusted: false }),
            paths: [],
            workspace,
            sessionId: id,
            trusted: false,
            mode: "text",
            logs: path.join(root, "logs"),
            environment: { PATH: [path.dirname(process.execPath), process.env["PATH"]].join(":"), HOME: home },
            reservedTools: reservedToolNames
          })
      })
      const extensions = yield* Extensions
      const run = Effect.flatMap(Agent, (made) => body(ended = { agent: made, extensions, stub, root, workspace, choose }))
      return yield* Effect.provide(run, Layer.provide(agent, model))
    }).pipe(Effect.scoped, Effect.provide(services), Effect.provideService(Frontend, frontend))
    if (ended !== undefined) closed?.(ended)
    return result
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
