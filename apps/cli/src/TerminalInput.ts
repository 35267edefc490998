/**
 * What is typed at the terminal, for the questions of a one-shot run. It is read all the time: what nobody asked for is
 * dropped, so that keys typed ahead never answer a question that was not yet on the screen. While another program has
 * the terminal nothing is read.
 */
import { Deferred, Effect, FiberHandle, Option, type Scope, Stdio, Stream } from "effect"
import type { TerminalControl } from "./Host.ts"
import { type Typing, typed } from "./TypedSecret.ts"

/** A line, or none when the person has closed the input. */
export type TypedLine = Option.Option<string>

/** The keyboard. One question at a time: who asks sees to that. */
export interface TerminalInput {
  /** The next line typed from now on. */
  readonly line: Effect.Effect<TypedLine>
  /** The same, not shown while it is typed; `shown` puts the question on the screen once keys are hidden. */
  readonly secret: (shown: Effect.Effect<void>) => Effect.Effect<TypedLine>
  /** Leaves the terminal to `program` for as long as it runs. */
  readonly lend: <A, E, R>(program: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** How long keys typed before they were hidden may take to arrive; they are dropped. */
const ahead = "20 millis"

/** Starts reading, with the scope's life. */
export const readTerminal = (control: TerminalControl): Effect.Effect<TerminalInput, never, Stdio.Stdio | Scope.Scope> =>
  Effect.gen(function*() {
    const stdio = yield* Stdio.Stdio
    const reader = yield* FiberHandle.make<void>()
    const closed = yield* Deferred.make<TypedLine>()
    let take: ((text: string) => Effect.Effect<unknown>) | undefined

    const read = stdio.stdin.pipe(
      Stream.decodeText(),
      Stream.runForEach((text) => take?.(text) ?? Effect.void),
      Effect.ignore,
      // It has come to its end by itself: nobody will type any more.
      Effect.andThen(Deferred.succeed(closed, Option.none())),
      Effect.asVoid
    )
    const start = Effect.asVoid(FiberHandle.run(reader, read, { startImmediately: true }))

    /** Waits for what `next` makes of the texts that arrive. */
    const waitFor = (next: (text: string) => TypedLine | undefined): Effect.Effect<TypedLine> =>
      Effect.gen(function*() {
        const answer = yield* Deferred.make<TypedLine>()
        take = (text) => {
          const line = next(text)
          return line === undefined ? Effect.void : Deferred.succeed(answer, line)
        }
        return yield* Effect.raceFirst(Deferred.await(answer), Deferred.await(closed))
      }).pipe(Effect.ensuring(Effect.sync(() => (take = undefined))))

    const line = Effect.suspend(() => {
      let text = ""
      return waitFor((more) => {
        text += more
        const end = text.search(/[\r\n]/)
        return end < 0 ? undefined : Option.some(text.slice(0, end))
      })
    })

    const secret = (shown: Effect.Effect<void>) =>
      Effect.acquireUseRelease(
        Effect.sync(() => control.hideKeys(true)),
        () =>
          Effect.sleep(ahead).pipe(
            Effect.andThen(shown),
            Effect.andThen(Effect.suspend(() => {
              let typing: Typing = { text: "" }
              return waitFor((keys) => {
                typing = typed(typing, keys)
                if (typing.end === "interrupted") control.interrupt()
                return typing.end === undefined ? undefined : typing.end === "entered" ? Option.some(typing.text) : Option.none()
              })
            }))
          ),
        () => Effect.sync(() => control.hideKeys(false))
      )

    const lend = <A, E, R>(program: Effect.Effect<A, E, R>) =>
      Effect.acquireUseRelease(
        Effect.andThen(FiberHandle.clear(reader), Effect.promise(control.stopReading)),
        () => program,
        () => start
      )

    yield* start
    return { line, secret, lend }
  })
