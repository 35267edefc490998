/** Asks the subscribers of an event and folds their replies. */
import { Effect, type Scope } from "effect"
import { beginningOf, HookEvents, type HookKind, type HookName, type HookPayload, type HookReply, type JsonObject } from "@nimlet/protocol"
import { Diagnostics } from "../Diagnostics.ts"
import { CallFailed, toldOf } from "../ExtensionError.ts"
import { fieldsOf } from "../Fields.ts"
import type { HookOptions, HookOutcome } from "../HookOutcome.ts"
import { errorIn } from "../Replies.ts"
import type { Subscriber } from "../Subscriber.ts"
import { Coalescing } from "./Coalescing.ts"
import { applyReply, block, outcomeOf, type Tally, untouched } from "./Fold.ts"
import { Patience } from "./Patience.ts"

type Decoder = (line: JsonObject) => { readonly values: object; readonly bad: ReadonlyArray<string> }
const decoders = new Map<HookName, Decoder>()
const decoderOf = (event: HookName): Decoder => {
  const known = decoders.get(event)
  if (known !== undefined) return known
  const made: Decoder = fieldsOf(HookEvents[event].reply)
  decoders.set(event, made)
  return made
}

/**
 * A dispatcher over whoever `subscribersOf` names at the moment. Events that nobody waits for are told in `scope`; how
 * many are under way at once is bounded by what each extension's actor takes.
 */
export const makeDispatcher = (subscribersOf: (event: HookName) => ReadonlyArray<Subscriber>, scope: Scope.Scope) => {
  /** Extensions whose absence has been told; forgotten when they answer again. */
  const missing = new Set<string>()
  const patience = new Patience(scope)
  const coalescing = new Coalescing()

  const warn = (extension: string, message: string) =>
    Effect.flatMap(Diagnostics, (diagnose) => diagnose({ level: "warning", message, extension }))

  const asked = (event: HookName, options: HookOptions | undefined) => {
    const all = subscribersOf(event)
    const { except, planning = false, reloading = false } = options ?? {}
    return planning || reloading || except !== undefined
      ? all.filter(({ inPlanMode, key, onReload }) => (inPlanMode || !planning) && (onReload || !reloading) && key !== except)
      : all
  }

  /** Says what went wrong, unless the supervisor has said it (a crash) or it is known (still away). */
  const report = ({ key }: Subscriber, error: CallFailed) => {
    if (error.reason === "crashed" || error.reason === "unavailable") {
      const told = error.reason === "crashed" || error.told === true || missing.has(key)
      missing.add(key)
      if (told) return Effect.void
    }
    return warn(key, toldOf(error))
  }

  const put = <N extends HookName>(event: N, subscriber: Subscriber, payload: HookPayload<N>) =>
    Effect.flatMap(subscriber.ask(event, { ...payload }), (line) => {
      missing.delete(subscriber.key)
      // No field of any event: an author who says so means that it could not be handled.
      const detail = errorIn(line)
      if (detail !== undefined) return Effect.fail(new CallFailed({ extension: subscriber.key, reason: "threw", detail: beginningOf(detail, 500) }))
      const { bad, values } = decoderOf(event)(line)
      // The decoder was made from this event's own row of the table.
      const reply = { values: values as HookReply<N>, bad }
      return bad.length === 0
        ? Effect.succeed(reply)
        : Effect.as(
          warn(subscriber.key, `extension '${subscriber.key}': ignored an invalid ${bad.join(", ")} in its reply to ${event}`),
          reply
        )
    })

  const tell = <N extends HookName>(event: N, subscriber: Subscriber, payload: HookPayload<N>) =>
    Effect.catch(put(event, subscriber, payload), (error) => report(subscriber, error))

  /** What waits for the subscriber is sent first: each sees events in their order. */
  const ask = <N extends HookName>(event: N, subscriber: Subscriber, payload: HookPayload<N>) => {
    const asking = put(event, subscriber, payload)
    return coalescing.holds ? Effect.andThen(flush(subscriber), asking) : asking
  }
  const flush = (subscriber: Subscriber) =>
    Effect.suspend(() =>
      Effect.forEach(
        coalescing.flush(subscriber.key),
        ({ event, payload }) => Effect.forkIn(tell(event, subscriber, payload), scope, { startImmediately: true }),
        { discard: true }
      ))

  /** Tells one subscriber, and then what has come meanwhile, until nothing has. */
  const tellOn = <N extends HookName>(event: N, subscriber: Subscriber, payload: HookPayload<N>): Effect.Effect<void> =>
    Effect.flatMap(tell(event, subscriber, payload), () => {
      const next = coalescing.next(subscriber.key, event, payload)
      return next === undefined ? Effect.void : tellOn(event, subscriber, next)
    })

  const closes = (event: HookName, subscriber: Subscriber) => event === "tool_call" && subscriber.onFailure === "block"
  const refuse = <N extends HookName>(tally: Tally<N>, { key }: Subscriber, why: string) =>
    block(tally, key, `extension '${key}' guards this call and could not decide: ${why}`)

  const step = <N extends HookName>(event: N, tally: Tally<N>, subscriber: Subscriber): Effect.Effect<Tally<N>> =>
    ask(event, subscriber, tally.payload).pipe(
      Effect.map(({ bad, values }) =>
        bad.length > 0 && closes(event, subscriber)
          ? refuse(tally, subscriber, `invalid ${bad.join(", ")}`)
          : applyReply(event, tally, subscriber.key, values)
      ),
      Effect.catch((error) =>
        Effect.as(
          report(subscriber, error),
          closes(event, subscriber) ? refuse(tally, subscriber, error.message) : tally
        )
      )
    )

  const chain = Effect.fnUntraced(function*<N extends HookName>(
    event: N,
    payload: HookPayload<N>,
    subscribers: ReadonlyArray<Subscriber>,
    waiting: Set<string>
  ) {
    let tally = untouched<N>(payload)
    for (const subscriber of subscribers) {
      const told = tally.notes.length
      waiting.add(subscriber.key)
      tally = yield* step(event, tally, subscriber)
      waiting.delete(subscriber.key)
      for (const note of tally.notes.slice(told)) yield* warn(subscriber.key, note)
    }
    if (tally.reasons.length === 0 && tally.handled !== true) {
      for (const key of tally.blockedBy) yield* warn(key, `extension '${key}' blocked ${event}${"tool" in payload ? ` of ${String(payload.tool)}` : ""} and gave no reason`)
    }
    return outcomeOf(tally)
  })

  const tellAll = <N extends HookName>(
    event: N,
    payload: HookPayload<N>,
    subscribers: ReadonlyArray<Subscriber>,
    waiting: Set<string>
  ) =>
    Effect.forEach(
      subscribers,
      (subscriber) => {
        waiting.add(subscriber.key)
        return ask(event, subscriber, payload).pipe(
          Effect.catch((error) => report(subscriber, error)),
          Effect.tap(() => Effect.sync(() => waiting.delete(subscriber.key)))
        )
      },
      { concurrency: "unbounded", discard: true }
    )

  /** Tells a subscriber without waiting for it. */
  const note = <N extends HookName>(event: N, subscriber: Subscriber, payload: HookPayload<N>) =>
    Effect.suspend((): Effect.Effect<unknown> => {
      if (!coalescing.takes(subscriber.key, event, payload)) return Effect.void
      const telling = tellOn(event, subscriber, payload)
      return Effect.forkIn(coalescing.holds ? Effect.andThen(flush(subscriber), telling) : telling, scope, { startImmediately: true })
    })

  const run = <N extends HookName>(
    event: N,
    payload: HookPayload<N>,
    options?: HookOptions
  ): Effect.Effect<HookOutcome<N>> => {
    const subscribers = asked(event, options)
    if (subscribers.length === 0) return Effect.succeed(outcomeOf(untouched<N>(payload)))
    const { awaited, kind }: { readonly kind: HookKind; readonly awaited?: true } = HookEvents[event]
    if (kind !== "observe") return patience.watched(event, (waiting) => chain(event, payload, subscribers, waiting))
    const telling = awaited === true
      ? patience.watched(event, (waiting) => tellAll(event, payload, subscribers, waiting))
      : Effect.forEach(subscribers, (subscriber) => note(event, subscriber, payload), { discard: true })
    return Effect.as(telling, outcomeOf(untouched<N>(payload)))
  }

  return { run, subscribed: (event: HookName, options?: HookOptions) => asked(event, options).length > 0 }
}
