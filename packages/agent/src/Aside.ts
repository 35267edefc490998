/**
 * Commands of extensions that run beside a turn, those that registered for it (`while_busy`). The conversation is the turn's
 * meanwhile: of a reply its message is given back, what it wants said waits in the queue as any word of an extension does,
 * and what it wants done with the session is refused. They are stopped by an interrupt, and when the session is left.
 */
import { Effect, Schema } from "effect"
import { Extensions } from "@nimlet/extension"
import { commandContext } from "./CommandContext.ts"
import { builtinNamed, commandIn } from "./Commands.ts"
import type { Selection } from "./Selection.ts"
import type { Switching } from "./Switching.ts"

/** A command beside a turn did not do what it was to; `why` is for people. */
export class AsideFailed extends Schema.TaggedError<AsideFailed>()("AsideFailed", { command: Schema.String, why: Schema.String }) {
  override get message(): string {
    return `/${this.command}: ${this.why}`
  }
}

/** What asides work with. */
export interface AsideOptions {
  readonly switching: Pick<Switching, "current">
  readonly selection: () => Selection
  readonly mode: string
}

/** The command in what was typed, to be run for its message; undefined where it is none that may run beside a turn. */
export type Asides = (typed: string) => Effect.Effect<Effect.Effect<string, AsideFailed> | undefined>

/** Runs the commands of an agent that may run beside its turns. */
export const makeAsides = ({ mode, selection, switching }: AsideOptions): Effect.Effect<Asides, never, Extensions> =>
  Effect.map(Extensions, (extensions) => {
    const run = Effect.fnUntraced(function*(name: string, args: string, extension: string) {
      const { access, session: open } = switching.current()
      const context = yield* commandContext(open, selection(), mode)
      const { message = "", prompt = "", reload = false, session } = yield* extensions.runCommand(name, args, context).pipe(
        Effect.mapError((error) => new AsideFailed({ command: name, why: error.message }))
      )
      const dropped = prompt === "" ? undefined : yield* access.say(extension, { content: prompt, deliver_as: "follow_up" })
      const said = message === "" ? "" : ` (it said: ${message})`
      if (dropped !== undefined) return yield* new AsideFailed({ command: name, why: `what it wants said to the model was dropped, ${dropped}${said}` })
      if (reload || session !== undefined) {
        return yield* new AsideFailed({ command: name, why: `it wants the session changed, which cannot be done beside a turn; run it when the turn is over${said}` })
      }
      return message
    })

    return Effect.fnUntraced(function*(typed) {
      const command = commandIn(typed.trim())
      if (command === undefined || builtinNamed(command.name) !== undefined) return undefined
      const offered = (yield* extensions.commands).find(({ name }) => name.toLowerCase() === command.name.toLowerCase())
      return offered?.whileBusy === true ? run(offered.name, command.args, offered.extension) : undefined
    })
  })
