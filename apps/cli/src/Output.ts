/**
 * Our standard output and error. Texts leave in order, whole, by one writer per stream; a reader who has gone away or is
 * slow changes nothing else. Everything is written when the scope closes.
 */
import { type Cause, Context, Effect, Fiber, Latch, Layer, Queue, Stdio, Stream } from "effect"

/** How many characters may wait for a slow reader before the run waits with them. */
const waiting = 1_000_000

/** How long a reader who takes nothing holds up a process that was told to end. */
const patience = "1 second"

const writer = Effect.fnUntraced(function*(sink: ReturnType<Stdio.Stdio["stdout"]>, ending: Effect.Effect<void>) {
  // Its bound is `room`, in characters: who finds too many waits, so that records are never dropped.
  const queue = yield* Queue.unbounded<string, Cause.Done>()
  const room = yield* Latch.make(true)
  let size = 0
  let hurried = false
  const hurry = Effect.sync(() => {
    hurried = true
    room.openUnsafe()
  })
  const fiber = yield* Stream.fromQueue(queue).pipe(
    Stream.mapArray((texts) => {
      size = 0
      room.openUnsafe()
      return [texts.join("")] as const
    }),
    Stream.run(sink),
    // The reader is gone: what comes later has nowhere to go, and nobody shall wait for it.
    Effect.catch(() => Queue.shutdown(queue)),
    Effect.ensuring(hurry),
    Effect.forkScoped({ startImmediately: true })
  )
  // From then on nobody waits: a last record is worth less than an end in order.
  const hurrying = yield* Effect.forkScoped(Effect.andThen(ending, hurry))
  yield* Effect.addFinalizer(() =>
    Queue.end(queue).pipe(
      Effect.andThen(Effect.raceFirst(
        Fiber.await(fiber),
        Effect.andThen(Fiber.await(hurrying), Effect.sleep(patience))
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
}>()("nimlet/Output") {
  /** Output that stops waiting for readers when `ending` returns. */
  static readonly layer = (ending: Effect.Effect<void>): Layer.Layer<Output, never, Stdio.Stdio> =>
    Layer.effect(Output, Effect.gen(function*() {
      const stdio = yield* Stdio.Stdio
      return { out: yield* writer(stdio.stdout(), ending), err: yield* writer(stdio.stderr(), ending) }
    }))
}
