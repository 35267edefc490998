/**
 * Lines typed at the terminal, for the questions of a one-shot run. It is read all the time: a line that nobody asked for is
 * dropped, so that keys typed ahead never answer a question that was not yet on the screen.
 */
import { Deferred, Effect, Fiber, Option, type Scope, Stdio, Stream } from "effect"

/** A line, or none when the terminal has closed its input. */
export type TypedLine = Option.Option<string>

/** Starts reading, with the scope's life. What it gives waits for the next line typed from then on. */
export const readTerminal: Effect.Effect<Effect.Effect<TypedLine>, never, Stdio.Stdio | Scope.Scope> = Effect.gen(function*() {
  const stdio = yield* Stdio.Stdio
  let waiting: Deferred.Deferred<TypedLine> | undefined
  const reader = yield* stdio.stdin.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.runForEach((line) => waiting === undefined ? Effect.void : Deferred.succeed(waiting, Option.some(line))),
    Effect.ignore,
    Effect.forkScoped({ startImmediately: true })
  )
  const closed = Effect.as(Fiber.await(reader), Option.none<string>())
  return Effect.gen(function*() {
    const next = yield* Deferred.make<TypedLine>()
    waiting = next
    return yield* Effect.raceFirst(Deferred.await(next), closed)
  }).pipe(Effect.ensuring(Effect.sync(() => (waiting = undefined))))
})
