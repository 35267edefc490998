/** Asks the subscribers of an event and folds their replies. */
import { Effect } from "effect"
import { HookEvents, type HookName, type HookPayload, type HookReply, type JsonObject } from "@nimlet/protocol"
import { Diagnostics } from "../Diagnostics.ts"
import type { CallFailed } from "../ExtensionError.ts"
import { fieldsOf } from "../Fields.ts"
import type { HookOptions, HookOutcome } from "../HookOutcome.ts"
import type { Subscriber } from "../Subscriber.ts"
import { applyReply, block, outcomeOf, type Tally, untouched } from "./Fold.ts"

type Decoder = (line: JsonObject) => { readonly values: object; readonly bad: ReadonlyArray<string> }
const decoders = new Map<HookName, Decoder>()
const decoderOf = (event: HookName): Decoder => {
  const known = decoders.get(event)
  if (known !== undefined) return known
  const made: Decoder = fieldsOf(HookEvents[event].reply)
  decoders.set(event, made)
  return made
}

/** A dispatcher over whoever `subscribersOf` names at the moment. */
export const makeDispatcher = (subscribersOf: (event: HookName) => ReadonlyArray<Subscriber>) => {
  /** Extensions whose absence has been told; forgotten when they answer again. */
  const missing = new Set<string>()

  const warn = (extension: string, message: string) =>
    Effect.flatMap(Diagnostics, (diagnose) => diagnose({ level: "warning", message, extension }))

  const asked = (event: HookName, options: HookOptions | undefined) => {
    const all = subscribersOf(event)
    return options?.planning === true ? all.filter((subscriber) => subscriber.inPlanMode) : all
  }

  /** Says what went wrong, unless the supervisor has said it (a crash) or it is known (still away). */
  const report = ({ key }: Subscriber, error: CallFailed) => {
    if (error.reason === "crashed") return Effect.void
    if (error.reason === "unavailable") {
      if (missing.has(key)) return Effect.void
      missing.add(key)
    }
    return warn(key, `extension '${key}': ${error.message}`)
  }

  const ask = <N extends HookName>(event: N, subscriber: Subscriber, payload: HookPayload<N>) =>
    Effect.flatMap(subscriber.ask(event, { ...payload }), (line) => {
      missing.delete(subscriber.key)
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
    subscribers: ReadonlyArray<Subscriber>
  ) {
    let tally = untouched<N>(payload)
    for (const subscriber of subscribers) {
      const told = tally.notes.length
      tally = yield* step(event, tally, subscriber)
      for (const note of tally.notes.slice(told)) yield* warn(subscriber.key, note)
    }
    return outcomeOf(tally)
  })

  const tellAll = <N extends HookName>(event: N, payload: HookPayload<N>, subscribers: ReadonlyArray<Subscriber>) =>
    Effect.forEach(
      subscribers,
      (subscriber) => Effect.catch(ask(event, subscriber, payload), (error) => report(subscriber, error)),
      { concurrency: "unbounded", discard: true }
    )

  const run = <N extends HookName>(
    event: N,
    payload: HookPayload<N>,
    options?: HookOptions
  ): Effect.Effect<HookOutcome<N>> => {
    const subscribers = asked(event, options)
    if (subscribers.length === 0) return Effect.succeed(outcomeOf(untouched<N>(payload)))
    return HookEvents[event].kind === "observe"
      ? Effect.map(tellAll(event, payload, subscribers), () => outcomeOf(untouched<N>(payload)))
      : chain(event, payload, subscribers)
  }

  return { run, subscribed: (event: HookName, options?: HookOptions) => asked(event, options).length > 0 }
}
