/** What the person's own modules say of a project before its files are loaded (seed 004, "project_trust"). */
import { Effect, Layer, Option, Path } from "effect"
import { loadSettings, reservedToolNames, type TrustAnswer } from "@nimlet/agent"
import { Diagnostics, Extensions, Frontend, type FrontendShape, headless, Hooks } from "@nimlet/extension"
import { chooseExtensions } from "./ExtensionChoice.ts"
import { layerExtensions } from "./Extensions.ts"
import type { Invocation } from "./Flags.ts"
import type { Host } from "./Host.ts"
import { keyVariables } from "./Model.ts"
import type { Mode } from "./modes/Mode.ts"

/** Who asks, of what, and who is there to answer. */
export interface TrustAdviceOptions {
  readonly invocation: Invocation
  readonly host: Host
  /** A real path. */
  readonly workspace: string
  readonly mode: Pick<Mode, "name" | "notice">
  /** Absent where nobody can be asked. */
  readonly frontend?: FrontendShape
}

/**
 * Starts the modules that are not the project's, asks them, and stops them: those of the session are started once it is known
 * what belongs to it. Undefined when there are none, or none says yes or no.
 */
export const trustAdvice = Effect.fnUntraced(function*({ frontend, host, invocation, mode, workspace }: TrustAdviceOptions) {
  const path = yield* Path.Path
  const settings = yield* Effect.option(loadSettings(path.join(host.home, ".nimlet", "config.json")))
  // Settings that are no good end the run, which says so.
  if (Option.isNone(settings)) return undefined
  const choice = chooseExtensions({ invocation: { ...invocation, approve: false }, settings: settings.value, host, workspace, path })
  const asking = Effect.gen(function*() {
    const extensions = yield* Extensions
    // What is wrong with any of them is told when the session starts them.
    const { started } = yield* extensions.start({
      ...choice,
      required: [],
      runsAs: "thread",
      workspace,
      sessionId: "",
      mode: mode.name,
      logs: path.join(host.home, ".nimlet", "logs"),
      environment: host.environment,
      withheld: keyVariables(settings.value),
      session: { bin: host.bin },
      reservedTools: reservedToolNames
    })
    if (started.length === 0) return undefined
    const { payload } = yield* (yield* Hooks).run("project_trust", { cwd: workspace, trusted: "undecided", remember: false })
    const { remember, trusted } = payload
    const answer: TrustAnswer | undefined = trusted === "undecided" ? undefined : { trusted: trusted === "yes", remember }
    return answer
  })
  return yield* asking.pipe(
    Effect.provideService(Frontend, frontend ?? headless),
    Effect.provideService(Diagnostics, ({ message }) => mode.notice(message)),
    Effect.provide(Layer.fresh(Layer.provideMerge(Hooks.layer, layerExtensions(host))))
  )
})
