/**
 * Runs a command of an extension. Its reply is carried out in the order message, session, reload, prompt (seed 000, "command";
 * side effects are the host's). A session action that is refused ends the command there.
 */
import { Deferred, Effect, Latch, Result } from "effect"
import { type CommandReply, Extensions } from "@nimlet/extension"
import type { ContentPart, SessionAction } from "@nimlet/protocol"
import type { SwitchRefused } from "../AgentError.ts"
import { commandContext } from "../CommandContext.ts"
import type { Selection } from "../Selection.ts"
import type { Destination, Switching, Target } from "../Switching.ts"
import type { SessionChange } from "./SessionChange.ts"
import type { Outcome, Voice } from "./Voice.ts"

/** A change that an extension's command makes by itself. The command is over when it has answered and the change is `over`. */
export interface Change<E> {
  readonly going: Effect.Effect<unknown, E>
  readonly over: Effect.Effect<unknown>
}

/** What they work with. */
export interface ExtensionCommandsOptions {
  readonly switching: Switching
  readonly change: SessionChange
  readonly selection: () => Selection
  /** How we run, for a command's `context`. */
  readonly mode: string
  /** Starts the extensions anew; gives why nothing may run then, if so. */
  readonly reload: Effect.Effect<string | undefined>
}

/** What else may be done while one of them is under way. */
export interface CommandUnderWay {
  /** Changes the session for an extension's command under way, whose run ends with the session that it began in; undefined when none is. */
  readonly changing: (target: Target, entering: (destination: Destination) => Effect.Effect<void>) => Change<SwitchRefused> | undefined
  /** Starts the extensions anew for a command under way; undefined when none is. */
  readonly reloading: () => Change<never> | undefined
  /** Whether a command of an extension has the turn. */
  readonly isUnderWay: () => boolean
  /** Returns when none does. */
  readonly quiet: Effect.Effect<void>
  /** Takes what an extension's command under way wants said when it is over; false when none is. */
  readonly follow: (words: string, attached?: ReadonlyArray<ContentPart>) => boolean
}

/** What a command wants said. */
interface Said {
  readonly words: string
  readonly attached: ReadonlyArray<ContentPart>
}

/** Runs commands of extensions. */
export interface ExtensionCommands extends CommandUnderWay {
  readonly run: (name: string, args: string, voice: Voice) => Effect.Effect<Outcome>
}

const targetOf = ({ action, id, message }: SessionAction): Target | string => {
  if (action === "switch") return id === undefined || id === "" ? "a switch wants the id of a session" : { kind: "resume", id }
  if (action === "fork") return message === undefined ? "a fork wants the number of a message" : { kind: "fork", message }
  return { kind: "new" }
}

/** The commands of the extensions of an agent. */
export const makeExtensionCommands = Effect.fnUntraced(function*({ change: { go }, mode, reload, selection, switching }: ExtensionCommandsOptions) {
  const extensions = yield* Extensions
  const context = Effect.suspend(() => commandContext(switching.current().session, selection(), mode))

  /** Does what a reply wants done with the session. Undefined when that was refused, which has been told then. */
  const act = Effect.fnUntraced(function*(voice: Voice, session: SessionAction) {
    const { action, editor_text = "" } = session
    if (action === undefined) return { switched: false, editorText: editor_text }
    if (action === "compact") {
      const { failed, message } = yield* switching.current().compact(session.instruction ?? "")
      if (failed) return yield* Effect.as(voice.fail(message), undefined)
      yield* voice.note(message)
      return { switched: false, editorText: editor_text }
    }
    const target = targetOf(session)
    if (typeof target === "string") return yield* Effect.as(voice.fail(`Extension command failed: ${target}`), undefined)
    return yield* go(voice, target, () => Effect.void).pipe(
      Effect.map(({ text }) => ({ switched: true, editorText: editor_text === "" ? text : editor_text })),
      Effect.catch((error) => Effect.as(voice.fail(error.message), undefined))
    )
  })

  const quiet = yield* Latch.make(true)
  let underWay: { readonly voice: Voice; readonly over: Deferred.Deferred<void>; said: ReadonlyArray<Said>; changed: boolean } | undefined

  /** A command of an extension. When it has changed the session by itself, its old self may be gone before it answers. */
  const ask = Effect.fnUntraced(function*(name: string, args: string, voice: Voice) {
    const present: NonNullable<typeof underWay> = { voice, over: yield* Deferred.make<void>(), said: [], changed: false }
    const asked = yield* Effect.acquireUseRelease(
      Effect.sync(() => {
        underWay = present
        quiet.closeUnsafe()
      }),
      () =>
        Effect.flatMap(context, (known) => Effect.result(extensions.runCommand(name, args, known))).pipe(
          Effect.tap(Effect.sync(() => quiet.openUnsafe())),
          Effect.tap(Effect.suspend(() => present.changed ? Deferred.await(present.over) : Effect.void))
        ),
      () =>
        Effect.sync(() => {
          underWay = undefined
          quiet.openUnsafe()
        })
    )
    if (Result.isFailure(asked) && !present.changed) return yield* asked.failure
    const reply: CommandReply = Result.getOrElse(asked, () => ({}))
    const prompt = [reply.prompt ?? "", ...present.said.map(({ words }) => words)].filter((text) => text !== "").join("\n\n")
    return { ...reply, prompt, attached: present.said.flatMap(({ attached }) => attached) }
  })

  const extensionCommand = Effect.fnUntraced(function*(name: string, args: string, voice: Voice) {
    const { attached, message = "", prompt, reload: wanted = false, session = {} } = yield* ask(name, args, voice)
    if (prompt !== "" || attached.length > 0) voice.follow()
    if (message !== "") yield* voice.tell(message)
    const done = yield* act(voice, session)
    if (done === undefined) return { success: false, text: message }
    const missing = wanted && !done.switched ? yield* reload : undefined
    if (missing !== undefined) return yield* voice.fail(missing)
    const outcome: Outcome = { success: true, text: message, prompt, attached }
    return done.editorText === "" ? outcome : { ...outcome, editorText: done.editorText }
  }, (effect, _name, _args, voice) => Effect.catch(effect, (error) => voice.fail(`Extension command failed: ${error.message}`)))

  const commands: ExtensionCommands = {
    run: extensionCommand,
    changing: (target, entering) => {
      const present = underWay
      if (present === undefined) return undefined
      const going = go(present.voice, target, (destination) =>
        Effect.andThen(Effect.sync(() => void (present.changed = true)), entering(destination)))
      return { going, over: Deferred.succeed(present.over, undefined) }
    },
    reloading: () => {
      if (underWay === undefined) return undefined
      underWay.changed = true
      return { going: switching.reload, over: Deferred.succeed(underWay.over, undefined) }
    },
    isUnderWay: () => underWay !== undefined,
    quiet: quiet.await,
    follow: (words, attached = []) => {
      if (underWay === undefined) return false
      underWay.said = [...underWay.said, { words, attached }]
      return true
    }
  }
  return commands
})
