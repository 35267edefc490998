/**
 * Runs a slash command: a run of its own without a model. Built-in names come first, then those of extensions; what one
 * wants said to the model is a run that follows.
 */
import { Effect } from "effect"
import { Extensions } from "@nimlet/extension"
import type { ContentPart, RunPlace } from "@nimlet/protocol"
import { makeBuiltins, type BuiltinsOptions } from "./CommandRunner/Builtins.ts"
import { type CommandUnderWay, type ExtensionCommandsOptions, makeExtensionCommands } from "./CommandRunner/ExtensionCommands.ts"
import { makeSessionChange } from "./CommandRunner/SessionChange.ts"
import { voiceOf } from "./CommandRunner/Voice.ts"
import { builtinNamed, type TypedCommand } from "./Commands.ts"
import { EventSink } from "./EventSink.ts"
import type { RunResult } from "./Loop.ts"

/** What commands work with. */
export interface CommandRunnerOptions extends Omit<BuiltinsOptions, "change" | "reload">, Pick<ExtensionCommandsOptions, "mode" | "selection"> {
  /** Runs words as the user's next ones, with what goes along with them. */
  readonly say: (words: string, attached?: ReadonlyArray<ContentPart>) => Effect.Effect<RunResult>
}

/** Runs what was typed. */
export interface CommandRunner extends CommandUnderWay {
  readonly run: (typed: string, command: TypedCommand) => Effect.Effect<RunResult>
}

/** Runs the commands of an agent. */
export const makeCommandRunner = Effect.fnUntraced(function*({ mode, say, selection, ...options }: CommandRunnerOptions) {
  const { switching } = options
  const extensions = yield* Extensions
  const change = makeSessionChange(switching)
  const reload = Effect.gen(function*() {
    yield* switching.reload
    return switching.unready()?.message
  })

  const builtins = yield* makeBuiltins({ ...options, change, reload })
  const ofExtensions = yield* makeExtensionCommands({ switching, change, selection, mode, reload })

  const run = Effect.fnUntraced(function*(typed: string, { args, name }: TypedCommand) {
    const { publish } = yield* EventSink
    const { session } = switching.current()
    const turn_id = `${session.id}:turn:${(yield* session.entries).length}`
    const place: RunPlace = { session_id: session.id, turn_id, run_id: turn_id }
    const voice = yield* voiceOf(place)
    yield* publish({ type: "message", session_id: session.id, turn_id, role: "user", content: typed })
    yield* publish({ type: "run_start", ...place, prompt: typed })
    const { attached = [], prompt = "", ...result } = yield* Effect.gen(function*() {
      const builtin = builtinNamed(name)
      if (builtin !== undefined) return yield* builtins[builtin.name](args, voice)
      const known = yield* extensions.commands
      return known.some((one) => one.name.toLowerCase() === name.toLowerCase())
        ? yield* ofExtensions.run(name, args, voice)
        : yield* voice.fail(`Unknown command '/${name}'; /help lists what there is.`)
    }).pipe(
      Effect.onInterrupt(() => voice.fail("Interrupted")),
      Effect.ensuring(voice.end)
    )
    if (prompt === "" && attached.length === 0) return result
    const answer = yield* say(prompt, attached)
    return { ...answer, text: [result.text, answer.text].filter((text) => text !== "").join("\n\n") }
  })

  return { ...ofExtensions, run } satisfies CommandRunner
})
