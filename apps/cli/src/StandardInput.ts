/**
 * Piped input beside a prompt. A pipe that somebody left open must not hang the run: with a prompt on the command line
 * the first byte is waited for a limited time; once it is there, or when there is no prompt, everything is read.
 */
import { Deferred, type Duration, Effect, Stdio, Stream } from "effect"

/**
 * What was piped in, trimmed; `silent` says that nothing came in time and the run goes on without, `garbled` that some of
 * it was no text.
 */
export interface PipedText {
  readonly text: string
  readonly silent: boolean
  readonly garbled: boolean
  /** There was more than a model could ever take; what came is not kept. */
  readonly excessive: boolean
}

/** The most that is taken, in bytes. */
export const mostPiped = 256 * 1024 * 1024

/** No piped text. */
export const nothing: PipedText = { text: "", silent: false, garbled: false, excessive: false }

/** Text as it comes in pipes: UTF-8, or UTF-16 where its byte order mark says so. Bytes that are none become U+FFFD. Pure. */
const decodePiped = (bytes: Uint8Array): Pick<PipedText, "text" | "garbled"> => {
  const label = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8"
  try {
    return { text: new TextDecoder(label, { fatal: true }).decode(bytes).trim(), garbled: false }
  } catch {
    return { text: new TextDecoder(label).decode(bytes).trim(), garbled: true }
  }
}

/** Reads standard input unless it is a terminal. `wait` limits the first byte when there is a prompt beside it. */
export const readPiped = Effect.fnUntraced(function*(
  options: { readonly hasPrompt: boolean; readonly wait: Duration.Input }
): Effect.fn.Return<PipedText, never, Stdio.Stdio> {
  const stdio = yield* Stdio.Stdio
  if (yield* stdio.stdinIsTerminal) return nothing
  const first = yield* Deferred.make<void>()
  let size = 0
  const read = stdio.stdin.pipe(
    Stream.onFirst(() => Deferred.succeed(first, undefined)),
    Stream.takeUntil((chunk) => (size += chunk.length) > mostPiped),
    Stream.runCollect,
    // A closed or unreadable descriptor brings nothing, as an empty file would.
    Effect.orElseSucceed((): ReadonlyArray<Uint8Array> => []),
    Effect.map((chunks): PipedText => size > mostPiped ? { ...nothing, excessive: true } : { ...nothing, ...decodePiped(Buffer.concat(chunks)) })
  )
  if (!options.hasPrompt) return yield* read
  const tooLate = Effect.sleep(options.wait).pipe(
    Effect.andThen(Deferred.isDone(first)),
    Effect.flatMap((started) => started ? Effect.never : Effect.succeed<PipedText>({ ...nothing, silent: true }))
  )
  return yield* Effect.raceFirst(read, tooLate)
})
