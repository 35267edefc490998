/**
 * Our standard output and error. Texts leave in order, whole, by one writer per stream; a reader who has gone away or is
 * slow changes nothing else. Everything is written when the scope closes.
 */
import { type Cause, Context, Effect, Fiber, Layer, Queue, Stdio, Stream } from "effect"

/** How many texts may wait for a slow reader before the run waits with them. */
const waiting = 4096

const writer = Effect.fnUntraced(function*(sink: ReturnType<Stdio.Stdio["stdout"]>) {
  // Overflow policy: suspend, so that records are never dropped.
  const queue = yield* Queue.bounded<string, Cause.Done>(waiting)
  const fiber = yield* Stream.fromQueue(queue).pipe(
    Stream.mapArray((texts) => [texts.join("")] as const),
    Stream.run(sink),
    // The reader is gone: what comes later has nowhere to go, and nobody shall wait for it.
    Effect.catch(() => Queue.shutdown(queue)),
    Effect.forkScoped({ startImmediately: true })
  )
  yield* Effect.addFinalizer(() => Effect.andThen(Queue.end(queue), Fiber.await(fiber)))
  return (text: string): Effect.Effect<void> => Effect.asVoid(Queue.offer(queue, text))
})

/** Writes text to standard output and standard error. */
export class Output extends Context.Service<Output, {
  readonly out: (text: string) => Effect.Effect<void>
  readonly err: (text: string) => Effect.Effect<void>
}>()("nimlet/Output") {
  static readonly layer: Layer.Layer<Output, never, Stdio.Stdio> = Layer.effect(Output, Effect.gen(function*() {
    const stdio = yield* Stdio.Stdio
    return { out: yield* writer(stdio.stdout()), err: yield* writer(stdio.stderr()) }
  }))
}
