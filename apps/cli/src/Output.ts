/**
 * Our standard output and error. Texts leave in order, whole, by one writer per stream; a reader who has gone away or is
 * slow changes nothing else. Everything is written when the scope closes.
 */
import { type Cause, Context, Deferred, type Duration, Effect, Fiber, Latch, Layer, Queue, Stdio, Stream } from "effect"

/** How many characters may wait for a slow reader before the run waits with them. */
const waiting = 1_000_000

/** How long a reader who takes nothing holds up a process that was told to end. */
const patience: Duration.Input = "1 second"
const noPatience: Duration.Input = "0 millis"

/** A reader who has asked for the end and takes nothing for so long counts as gone, at the latest after twice as long. */
const stalling = "2 seconds"

/** When to wait no longer for a reader. */
interface Hurry {
  /** Returns when we were told to end. */
  readonly ending: Effect.Effect<void>
  /** Returns when the reader has asked for the end; one who goes on reading is waited for all the same. */
  readonly parting: Effect.Effect<void>
  /** Told when a reader who has parted takes nothing. */
  readonly givenUp: Effect.Effect<void>
}

const writer = Effect.fnUntraced(function*(sink: ReturnType<Stdio.Stdio["stdout"]>, { ending, givenUp, parting }: Hurry) {
  // Its bound is `room`, in characters: who finds too many waits, so that records are never dropped.
  const queue = yield* Queue.unbounded<string, Cause.Done>()
  const room = yield* Latch.make(true)
  let size = 0
  /** How often the reader was handed what waits. */
  let handed = 0
  let closing = false
  let hurried = false
  const hurry = Effect.sync(() => {
    hurried = true
    room.openUnsafe()
  })
  const fiber = yield* Stream.fromQueue(queue).pipe(
    Stream.mapArray((texts) => {
      size = 0
      handed++
      room.openUnsafe()
      return [texts.join("")] as const
    }),
    Stream.run(sink),
    // The reader is gone: what comes later has nowhere to go, and nobody shall wait for it.
    Effect.catch(() => Queue.shutdown(queue)),
    Effect.ensuring(hurry),
    Effect.forkScoped({ startImmediately: true })
  )
  const stalled = Effect.gen(function*() {
    for (let before = -1; before !== handed || (size === 0 && !closing);) {
      before = handed
      yield* Effect.sleep(stalling)
    }
  })
  // From then on nobody waits: a last record is worth less than an end in order.
  const hurrying = yield* Effect.raceFirst(
    Effect.as(ending, patience),
    parting.pipe(Effect.andThen(stalled), Effect.andThen(givenUp), Effect.as(noPatience))
  ).pipe(Effect.tap(hurry), Effect.forkScoped)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => { closing = true }).pipe(
      Effect.andThen(Queue.end(queue)),
      Effect.andThen(Effect.raceFirst(
        Fiber.await(fiber),
        Effect.flatMap(Fiber.join(hurrying), Effect.sleep)
      ))
    )
  )
  return (text: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      size += text.length
      Queue.offerUnsafe(queue, text)
      if (size < waiting || hurried) return Effect.void
      room.closeUnsafe()
      return room.await
    })
})

/** Writes text to standard output and standard error. */
export class Output extends Context.Service<Output, {
  readonly out: (text: string) => Effect.Effect<void>
  readonly err: (text: string) => Effect.Effect<void>
  /** Whoever drives us has asked for the end: a reader who takes nothing for two seconds counts as gone from now on. */
  readonly part: Effect.Effect<void>
}>()("nimlet/Output") {
  /** Output that stops waiting for readers when `ending` returns, and for one that has parted, as `givenUp` is told. */
  static readonly layer = (ending: Effect.Effect<void>, givenUp: Effect.Effect<void> = Effect.void): Layer.Layer<Output, never, Stdio.Stdio> =>
    Layer.effect(Output, Effect.gen(function*() {
      const stdio = yield* Stdio.Stdio
      const parted = yield* Deferred.make<void>()
      const hurry = { ending, givenUp, parting: Deferred.await(parted) }
      return {
        out: yield* writer(stdio.stdout(), hurry),
        err: yield* writer(stdio.stderr(), hurry),
        part: Effect.asVoid(Deferred.succeed(parted, undefined))
      }
    }))
}
