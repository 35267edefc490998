/**
 * What is said to the agent while it works: steering goes before the next model step, follow-ups when the run would end.
 * Both queues hold at most 32 texts; one that finds its queue full is refused.
 */
import { Effect, Latch, PubSub, Stream } from "effect"
import type { ImagePart } from "@nimlet/protocol"
import { EventSink } from "./EventSink.ts"

/** When a text reaches the model. */
export type Delivery = "steer" | "follow_up"

/** How many texts are taken at once. */
export type QueueMode = "one-at-a-time" | "all"

/** What makes a text a message of an extension's own kind, which it draws and reads back itself (seed 004). */
export interface Custom {
  readonly type: string
  /** Whether people see it. */
  readonly display: boolean
  /** For programs alone. */
  readonly details?: unknown
  /** Beside the text. */
  readonly images?: ReadonlyArray<ImagePart>
}

/** A text that waits; `extension` is who said it, absent for the user. `requestId` is what a program knows it by. */
export interface QueuedText {
  readonly content: string
  readonly extension?: string
  readonly requestId?: string
  /** Beside the text of a message of the user's kind. */
  readonly images?: ReadonlyArray<ImagePart>
  readonly custom?: Custom
  /** It is taken with the one before it. */
  readonly joins?: true
}

/** What became of a text: `idle` when no run is there to take it, `full` when too many wait, `spent` when extensions have said enough. */
export type Offer = "accepted" | "idle" | "full" | "spent"

/** All that waits, oldest first. */
export interface Queued {
  readonly steering: ReadonlyArray<QueuedText>
  readonly followUp: ReadonlyArray<QueuedText>
}

/** Something that happened to a queue; `depth` is how many texts wait in both after it. */
export interface QueueChange {
  readonly action: "enqueue" | "dequeue" | "clear"
  readonly mode?: Delivery
  readonly content: string
  readonly depth: number
}

/** The queues of a session. */
export interface Queues {
  /** From here on a run takes texts. */
  readonly begin: Effect.Effect<void>
  /** From here on no run does; what waits goes on waiting. */
  readonly end: Effect.Effect<void>
  readonly offer: (mode: Delivery, text: QueuedText) => Effect.Effect<Offer>
  /** Offers all of them or none; the run takes them together. */
  readonly offerTogether: (mode: Delivery, texts: ReadonlyArray<QueuedText>) => Effect.Effect<Offer>
  /** Whether a run takes texts now, and how many wait. */
  readonly isLive: () => boolean
  readonly depth: () => number
  /** Returns when no run is under way. */
  readonly idle: Effect.Effect<void>
  /** Keeps texts for the beginning of the next run; `takeLater` takes them. */
  readonly keepForLater: (texts: ReadonlyArray<QueuedText>) => Effect.Effect<Offer>
  readonly takeLater: Effect.Effect<ReadonlyArray<QueuedText>>
  /** Whether one more text may wait for a run that has not begun; each run that begins takes one of them. */
  readonly holdEarly: Effect.Effect<boolean>
  /** What goes before the next step. */
  readonly takeSteering: Effect.Effect<ReadonlyArray<QueuedText>>
  /** What a run that would end goes on with: steering, else follow-ups. When there is nothing, the run takes no more. */
  readonly takeNext: Effect.Effect<ReadonlyArray<QueuedText>>
  readonly queued: Effect.Effect<Queued>
  /** Takes the oldest text a run has left, steering first. */
  readonly takeLeft: Effect.Effect<QueuedText | undefined>
  /** Takes everything back. */
  readonly clear: Effect.Effect<Queued>
  /** What happens from now on; a taker who is more than 64 changes behind misses the oldest. */
  readonly changes: Stream.Stream<QueueChange>
}

/** How texts are taken; one at a time where it is not said. */
export interface QueueModes {
  readonly steering?: QueueMode
  readonly followUp?: QueueMode
}

const capacity = 32

/**
 * How many texts of extensions a run takes since the user said something: one that answers every turn with a text of its own would
 * have it go on for ever.
 */
export const mostUnprompted = 100

/** The empty queues of a session, no run under way. What happens is told to `EventSink`, too, before anything comes of it. */
export const makeQueues = (modes: QueueModes = {}, sessionId = ""): Effect.Effect<Queues> =>
  Effect.map(Effect.all([PubSub.sliding<QueueChange>(64), Latch.make(true)]), ([changes, quiet]) => {
    let live = false
    let unprompted = 0
    /** Texts that came when no run was there, and for which none has begun yet. */
    let early = 0
    const waiting: { readonly [D in Delivery]: Array<QueuedText> } = { steer: [], follow_up: [] }
    const later: Array<QueuedText> = []
    const depth = () => waiting.steer.length + waiting.follow_up.length
    const note = Effect.fnUntraced(function*({ action, mode }: Pick<QueueChange, "action" | "mode">, { content, requestId }: QueuedText, left = depth()) {
      const place = { action, ...(mode === undefined ? {} : { mode }), depth: left }
      yield* PubSub.publish(changes, { ...place, content })
      const { publish } = yield* EventSink
      yield* publish({
        type: "queue",
        session_id: sessionId,
        ...place,
        ...(action === "enqueue" ? { content } : {}),
        ...(requestId === undefined ? {} : { request_id: requestId })
      })
    })

    const takeOut = (mode: Delivery, count: number) => {
      const taken = waiting[mode].splice(0, count)
      return Effect.as(Effect.forEach(taken, (text) => note({ action: "dequeue", mode }, text), { discard: true }), taken)
    }
    const take = (mode: Delivery, how: QueueMode = "one-at-a-time") => {
      let count = how === "all" ? capacity : 1
      while (waiting[mode][count]?.joins === true) count++
      return takeOut(mode, count)
    }
    const offerTogether: Queues["offerTogether"] = (mode, texts) =>
      Effect.suspend((): Effect.Effect<Offer> => {
        const ofExtensions = texts.filter(({ extension }) => extension !== undefined).length
        if (!live) return Effect.succeed("idle")
        if (waiting[mode].length + texts.length > capacity) return Effect.succeed("full")
        if (ofExtensions > 0 && unprompted >= mostUnprompted) return Effect.succeed("spent")
        unprompted = ofExtensions > 0 ? unprompted + ofExtensions : 0
        const before = depth()
        waiting[mode].push(...texts.map((text, index) => index === 0 ? text : { ...text, joins: true as const }))
        const told = Effect.forEach(texts, (text, index) => note({ action: "enqueue", mode }, text, before + index + 1), { discard: true })
        return Effect.as(told, "accepted")
      })
    const snapshot = (): Queued => ({ steering: [...waiting.steer], followUp: [...waiting.follow_up] })

    return {
      begin: Effect.sync(() => {
        live = true
        quiet.closeUnsafe()
        unprompted = 0
        early = Math.max(0, early - 1)
      }),
      end: Effect.sync(() => {
        live = false
        quiet.openUnsafe()
      }),
      idle: quiet.await,
      offer: (mode, text) => offerTogether(mode, [text]),
      offerTogether,
      isLive: () => live,
      depth,
      keepForLater: (texts) =>
        Effect.sync((): Offer => {
          if (later.length + texts.length > capacity) return "full"
          later.push(...texts)
          return "accepted"
        }),
      takeLater: Effect.sync(() => later.splice(0)),
      holdEarly: Effect.sync(() => early < capacity && ++early > 0),
      takeSteering: Effect.suspend(() => take("steer", modes.steering)),
      takeNext: Effect.suspend(() => {
        if (depth() === 0) live = false
        return waiting.steer.length > 0 ? take("steer", modes.steering) : take("follow_up", modes.followUp)
      }),
      takeLeft: Effect.suspend(() => Effect.map(takeOut(waiting.steer.length > 0 ? "steer" : "follow_up", 1), ([oldest]) => oldest)),
      queued: Effect.sync(snapshot),
      clear: Effect.suspend(() => {
        const all = snapshot()
        waiting.steer.length = 0
        waiting.follow_up.length = 0
        return depth() === all.steering.length + all.followUp.length ? Effect.succeed(all) : Effect.as(note({ action: "clear" }, { content: "" }), all)
      }),
      changes: Stream.fromPubSub(changes)
    }
  })
