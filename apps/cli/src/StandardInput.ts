/**
 * Piped input beside a prompt. A pipe that somebody left open must not hang the run: with a prompt on the command line
 * the first byte is waited for a limited time; once it is there, or when there is no prompt, everything is read.
 */
import { Deferred, type Duration, Effect, Stdio, Stream } from "effect"

/** What was piped in, trimmed; `silent` says that nothing came in time and the run goes on without. */
export interface PipedText {
  readonly text: string
  readonly silent: boolean
}

const nothing: PipedText = { text: "", silent: false }

/** Reads standard input unless it is a terminal. `wait` limits the first byte when there is a prompt beside it. */
export const readPiped = Effect.fnUntraced(function*(
  options: { readonly hasPrompt: boolean; readonly wait: Duration.Input }
): Effect.fn.Return<PipedText, never, Stdio.Stdio> {
  const stdio = yield* Stdio.Stdio
  if (yield* stdio.stdinIsTerminal) return nothing
  const first = yield* Deferred.make<void>()
  const read = stdio.stdin.pipe(
    Stream.onFirst(() => Deferred.succeed(first, undefined)),
    Stream.decodeText(),
    Stream.mkString,
    // A closed or unreadable descriptor brings nothing, as an empty file would.
    Effect.orElseSucceed(() => ""),
    Effect.map((text): PipedText => ({ text: text.trim(), silent: false }))
  )
  if (!options.hasPrompt) return yield* read
  const tooLate = Effect.sleep(options.wait).pipe(
    Effect.andThen(Deferred.isDone(first)),
    Effect.flatMap((started) => started ? Effect.never : Effect.succeed<PipedText>({ text: "", silent: true }))
  )
  return yield* Effect.raceFirst(read, tooLate)
})

/** The prompt as one text: piped text first, an empty line, then what stands on the command line. */
export const joinPrompt = (piped: string, typed: string): string => [piped, typed].filter((text) => text !== "").join("\n\n")
