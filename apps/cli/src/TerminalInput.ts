/** One line typed at the terminal, for the questions of a one-shot run. */
import { Effect, Option, Stdio, Stream } from "effect"

/**
 * Reads up to the next line end. None when the terminal closed its input. The terminal hands lines over whole, so that
 * nothing typed behind the line end is read.
 */
export const readLine: Effect.Effect<Option.Option<string>, never, Stdio.Stdio> = Effect.flatMap(Stdio.Stdio, (stdio) =>
  stdio.stdin.pipe(
    Stream.decodeText(),
    Stream.runHead,
    Effect.orElseSucceed(() => Option.none<string>()),
    Effect.map(Option.map((line) => line.replace(/\r?\n$/, "")))
  ))
