/** What extensions of seed 004 may have done in their session (`SessionCall`). Each does it in the session that is open then. */
import { Deferred, Effect, type Scope } from "effect"
import { type AtomicSessionShape, Frontend, HostRequestFailed } from "@nimlet/extension"
import { type ContentPart, type ImagePart, type JsonObject, type SessionEntry, textOf } from "@nimlet/protocol"
import type { SwitchRefused } from "./AgentError.ts"
import type { Change, CommandUnderWay } from "./CommandRunner/ExtensionCommands.ts"
import type { Compacted } from "./Compaction.ts"
import type { Conversation } from "./Conversation.ts"
import { customEntry } from "./Journal.ts"
import type { Custom, Delivery, QueuedText } from "./Queues.ts"
import type { Destination, Switching, Target } from "./Switching.ts"
import type { UserInput } from "./Wording.ts"

/** What calls work with. */
export interface ModuleCallsOptions {
  readonly conversation: () => Conversation
  /** What the screen and the host do without an agent. */
  readonly outer: AtomicSessionShape
  /** Runs words when no run is under way; must not wait for that run. Absent where nobody does. */
  readonly onIdleInput?: (input: UserInput, extension: string) => Effect.Effect<void>
  /** What leaves a session; known when the agent is made. */
  readonly whole: Effect.Effect<{ readonly commands: CommandUnderWay; readonly switching: Switching }>
  /** Takes what an extension's command under way wants said when it is over; false when none is. */
  readonly follow: CommandUnderWay["follow"]
  /** Runs something when nothing else does. */
  readonly inTurn: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** What outlasts the extension that asked for it. */
  readonly scope: Scope.Scope
  /** Stops the run under way; returns when it is over. */
  readonly interrupt: Effect.Effect<void>
  readonly compact: (instruction: string) => Effect.Effect<Compacted>
  /** Offers only these of the tools from now on. */
  readonly offerOnly: (names: ReadonlyArray<string>) => Effect.Effect<void>
  /** Has another model answer; false when it cannot. */
  readonly setModel: (provider: string, model: string) => Effect.Effect<boolean>
  readonly setThinking: (level: string) => Effect.Effect<void>
  /** Ends the program when nothing runs any more. */
  readonly shutdown: Effect.Effect<void>
}

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value)
const objectIn = (value: unknown): JsonObject => isObject(value) ? value : {}
const listIn = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : []
const textIn = (value: unknown): string => typeof value === "string" ? value : ""

const wordsIn = (content: unknown): string =>
  typeof content === "string" ? content : listIn(content).map(objectIn).flatMap(({ text, type }) => type === "text" && typeof text === "string" ? [text] : []).join("\n")
const imagesIn = (content: unknown): ReadonlyArray<ImagePart> =>
  listIn(content).map(objectIn).flatMap(({ data, mimeType, type }): ReadonlyArray<ImagePart> =>
    type === "image" && typeof data === "string" ? [{ type, data, mimeType: textIn(mimeType) || "image/png" }] : [])

const customText = (message: JsonObject, extension: string): QueuedText & { readonly custom: Custom } => {
  const { content, customType, details, display } = message
  const images = imagesIn(content)
  return {
    content: wordsIn(content),
    extension,
    custom: {
      type: textIn(customType) || extension,
      display: display !== false,
      ...(details === undefined ? {} : { details }),
      ...(images.length === 0 ? {} : { images })
    }
  }
}

const failed = (reason: string) => new HostRequestFailed({ reason, cancelled: false })
const tooMany = failed("too many messages wait already")
const done: JsonObject = {}

/** The calls of an agent. */
export const makeModuleCalls = (options: ModuleCallsOptions): AtomicSessionShape["call"] => {
  const { conversation, onIdleInput, outer } = options

  const start = (input: UserInput, extension: string) =>
    Effect.suspend(() =>
      onIdleInput !== undefined
        ? Effect.flatMap(conversation().queues.holdEarly, (room) => room ? onIdleInput(input, extension) : Effect.fail(tooMany))
        : input.saved !== true && options.follow(input.typed, input.attached)
        ? Effect.void
        : Effect.fail(failed("no run can be started here")))

  /** A command that an extension runs is no run of the model's: it is not stopped by itself. */
  const abort = Effect.suspend(() => conversation().queues.isLive() ? options.interrupt : Effect.void)

  /** Messages of an extension's own kind (seed 004, `pi.sendMessage`): kept at once when nothing runs, else when the run takes them. */
  const sendMessages = Effect.fnUntraced(function*(extension: string, messages: ReadonlyArray<JsonObject>, wish: JsonObject) {
    const { ledger, queues } = conversation()
    const texts = messages.map((message) => customText(message, extension))
    if (texts.length === 0) return done
    if (wish.deliverAs === "nextTurn") {
      if ((yield* queues.keepForLater(texts)) === "full") return yield* tooMany
      return done
    }
    if (wish.deliverAs === "interrupt") yield* abort
    const mode: Delivery = wish.deliverAs === "followUp" ? "follow_up" : "steer"
    const offer = yield* queues.offerTogether(mode, texts)
    if (offer === "full" || offer === "spent") return yield* tooMany
    if (offer === "accepted") return done
    for (const { content, custom } of texts) {
      yield* Effect.mapError(ledger.append(customEntry(content, custom, extension)), ({ message }) => failed(message))
      if (custom.display && wish.triggerTurn !== true) yield* (yield* Frontend).notify("info", content, extension)
    }
    if (wish.triggerTurn !== true) return done
    const shown = texts.filter(({ custom }) => custom.display).map(({ content }) => content).join("\n\n")
    yield* start({ typed: shown, literal: true, saved: true }, extension)
    return done
  })

  /** The user's words from an extension (`pi.sendUserMessage`). */
  const sayAsUser = Effect.fnUntraced(function*(extension: string, content: unknown, wish: JsonObject) {
    const words = wordsIn(content)
    const images = imagesIn(content)
    const text: QueuedText = { content: words, extension, ...(images.length === 0 ? {} : { images }) }
    const offer = yield* conversation().queues.offer(wish.deliverAs === "followUp" ? "follow_up" : "steer", text)
    if (offer === "full" || offer === "spent") return yield* tooMany
    if (offer === "accepted") return done
    yield* start({ typed: words, literal: wish.expandPromptTemplates !== true, ...(images.length === 0 ? {} : { attached: images }) }, extension)
    return done
  })

  /** Words that come while the session is being left are said in the next. */
  let leaving = false
  let later: ReadonlyArray<Effect.Effect<unknown, HostRequestFailed>> = []
  const leave = <E>({ going, over }: Change<E>): Effect.Effect<unknown, E> =>
    Effect.suspend(() => {
      leaving = true
      return going
    }).pipe(
      Effect.ensuring(Effect.suspend(() => {
        leaving = false
        const waiting = later
        later = []
        return Effect.andThen(Effect.forEach(waiting, (call) => Effect.ignore(call), { discard: true }), over)
      }))
    )

  /**
   * Leaves the session. The answer comes when that is sure and before anything is left: the extension that asked may say what it
   * still has to, and its next self is told of the new session.
   */
  const change = Effect.fnUntraced(function*(target: Target, entries: unknown = []) {
    const sure = yield* Deferred.make<boolean, HostRequestFailed>()
    const entering = ({ session }: Destination) =>
      Effect.forEach(setupEntries(listIn(entries).map(objectIn)), (entry) => Effect.ignore(session.append(entry)), { discard: true }).pipe(
        Effect.andThen(Deferred.succeed(sure, true))
      )
    const { commands, switching } = yield* options.whole
    const going = commands.changing(target, entering) ?? { going: options.inTurn(switching.go(target, entering)), over: Effect.void }
    // An extension's hook that says no has cancelled it; anything else, such as a session that is not there, is a fault to be thrown.
    const refusal = ({ blocked, why }: SwitchRefused) => blocked ? Deferred.succeed(sure, false) : Deferred.fail(sure, failed(why))
    yield* Effect.forkIn(Effect.catch(leave(going), refusal), options.scope)
    return { cancelled: !(yield* Deferred.await(sure)) } satisfies JsonObject
  })
  const reload = Effect.flatMap(options.whole, ({ commands, switching }) =>
    Effect.forkIn(leave(commands.reloading() ?? { going: options.inTurn(switching.reload), over: Effect.void }), options.scope))

  const whenThere = (call: Effect.Effect<JsonObject, HostRequestFailed>): Effect.Effect<JsonObject, HostRequestFailed> =>
    Effect.suspend(() => {
      if (!leaving) return call
      later = [...later, call]
      return Effect.succeed(done)
    })

  return (extension, method, params) => {
    const wish = objectIn(params.options)
    const { access, ledger, queues } = conversation()
    switch (method) {
      case "message.send":
        return whenThere(Effect.suspend(() => sendMessages(extension, listIn(params.messages).map(objectIn), wish)))
      case "message.user":
        return whenThere(Effect.suspend(() => sayAsUser(extension, params.content, wish)))
      case "entry.label": {
        const label = textIn(params.label)
        return ledger.append({ type: "label", target_id: textIn(params.id), ...(label === "" ? {} : { label }) }).pipe(
          Effect.mapError(({ message }) => failed(message)),
          Effect.as(done)
        )
      }
      case "session.set_name":
        return Effect.map(access.name(textIn(params.name).replaceAll(/\s+/g, " ").trim()), (name) => ({ name }))
      case "session.wait_idle":
        return Effect.as(queues.idle, done)
      case "session.abort":
        return Effect.as(abort, done)
      case "session.compact":
        return Effect.flatMap(options.compact(textIn(wish.customInstructions) || textIn(wish.query)), ({ did_compact, failed: hasFailed, message }) =>
          hasFailed ? Effect.fail(failed(message)) : Effect.succeed({ result: { did_compact, message } }))
      case "session.new":
        return change({ kind: "new" }, params.entries)
      case "session.fork":
        return change({ kind: "entry", id: textIn(params.id), at: params.position === "at" })
      case "session.navigate":
        return change({ kind: "entry", id: textIn(params.id), at: true, tree: textIn(wish.customInstructions) })
      case "session.switch":
        return change({ kind: "resume", id: textIn(params.path).replace(/^.*[/\\]/, "").replace(/\.jsonl$/, "") })
      case "session.reload":
        return Effect.as(reload, done)
      case "session.shutdown":
        return Effect.as(Effect.forkIn(Effect.andThen(queues.idle, options.shutdown), options.scope), done)
      case "tools.set_active":
        return Effect.as(options.offerOnly(listIn(params.names).map(textIn)), done)
      case "model.set":
        return Effect.map(options.setModel(textIn(params.provider), textIn(params.id)), (ok) => ({ ok }))
      case "model.thinking":
        return Effect.as(options.setThinking(textIn(params.level)), done)
      default:
        return outer.call(extension, method, params)
    }
  }
}

/** What `newSession({ setup })` puts into a session before anybody reads it. */
export const setupEntries = (entries: ReadonlyArray<JsonObject>): ReadonlyArray<SessionEntry> =>
  entries.flatMap((entry): ReadonlyArray<SessionEntry> => {
    const { content, customType, data, message, type } = entry
    if (type === "custom") return [{ type: "extension", extension: textIn(customType), custom_type: textIn(customType), data: data ?? null }]
    if (type === "custom_message") {
      const { content: words, custom } = customText(entry, "")
      return [customEntry(words, custom)]
    }
    const said = objectIn(message)
    const text: ContentPart = { type: "text", text: wordsIn(said.content ?? content) }
    if (said.role === "user") return [{ type: "user", role: "user", content: [text] }]
    return said.role === "assistant" && textOf([text]) !== "" ? [{ type: "assistant", role: "assistant", content: [text] }] : []
  })
