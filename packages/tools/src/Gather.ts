/** What grep, glob and git share: a program's output taken chunk by chunk, up to a limit and within a time. */
import { Deferred, Effect } from "effect"
import { ProcessFailed } from "./OperationError.ts"
import type { ProcessExit, ProcessRequest } from "./Operations.ts"

/** A search or a look into the history that takes longer has gone wrong. */
const TIMEOUT_SECONDS = 60
const MAX_STDERR_BYTES = 4096

/** What a program said. `exit` is undefined when it was stopped because `take` had enough. */
export interface Gathered {
  readonly exit: ProcessExit | undefined
  readonly stderr: string
}

/**
 * Runs a program and hands its stdout to `take` until that returns false; then the program is stopped, and `take` may
 * be called a few times more. Fails with `ProcessFailed` after 60 s. `name` is the program's name in messages.
 */
export const gather = Effect.fnUntraced(function*<E>(
  name: string,
  run: (onOutput: ProcessRequest["onOutput"]) => Effect.Effect<ProcessExit, E>,
  take: (chunk: Uint8Array) => boolean
) {
  const enough = yield* Deferred.make<undefined>()
  const decoder = new TextDecoder()
  let stderr = ""
  const onOutput: ProcessRequest["onOutput"] = (stream, chunk) => {
    if (stream === "stdout") return take(chunk) ? Effect.void : Effect.asVoid(Deferred.succeed(enough, undefined))
    if (stderr.length < MAX_STDERR_BYTES) stderr += decoder.decode(chunk, { stream: true })
    return Effect.void
  }
  const exit = yield* Effect.raceFirst(run(onOutput), Deferred.await(enough)).pipe(
    Effect.timeoutOrElse({
      duration: `${TIMEOUT_SECONDS} seconds`,
      orElse: () => Effect.fail(new ProcessFailed({ command: name, reason: `it took longer than ${TIMEOUT_SECONDS} s; narrow it down`, missing: false }))
    })
  )
  return { exit, stderr: stderr.slice(0, MAX_STDERR_BYTES).trim() } satisfies Gathered
})

/** Why a search found nothing but an error. */
export const searchFault = (code: number, stderr: string): string =>
  /^memory allocation of/m.test(stderr)
    ? "ripgrep wanted more than 1 GB of memory: a line, or an ignore file such as .gitignore, is too large or has no end; narrow path, or set include_ignored"
    : stderr === "" ? `ripgrep ended with code ${code}` : stderr

/** Splits bytes that come in chunks at a separator byte; `each` gets the decoded records and returns false to stop. */
export const makeRecords = (separator: number, each: (record: string) => boolean) => {
  const decoder = new TextDecoder()
  let rest: Array<Uint8Array> = []
  let stopped = false
  const emit = (last: Uint8Array): boolean => {
    const text = rest.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode(last)
    rest = []
    return each(text)
  }
  return {
    push: (chunk: Uint8Array): boolean => {
      let start = 0
      for (let at = chunk.indexOf(separator); at !== -1 && !stopped; at = chunk.indexOf(separator, start)) {
        stopped = !emit(chunk.subarray(start, at))
        start = at + 1
      }
      if (!stopped && start < chunk.length) rest.push(chunk.slice(start))
      return !stopped
    }
  }
}
