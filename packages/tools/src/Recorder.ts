/** A running command's output: live as it comes, its ends in memory, all of it in a file once it is too long. */
import { Effect, Scope, Semaphore } from "effect"
import { makeLiveOutput } from "./LiveOutput.ts"
import type { FileFailed } from "./OperationError.ts"
import type { ProcessRequest, Spill } from "./Operations.ts"
import { Tape } from "./Output.ts"
import type { Limits } from "./Output.ts"

/** The file keeps this much, no more. */
const MAX_SPILL_BYTES = 64 * 1024 * 1024
/** Room in the result for head lines and notes. */
const RESERVE_BYTES = 512
const RESERVE_LINES = 16

/** What a recorder stands on; `spill` is opened at most once. */
export interface RecorderOptions {
  readonly spill: Effect.Effect<Spill, FileFailed, Scope.Scope>
  readonly live: (delta: string) => Effect.Effect<void>
  readonly limits: Limits
}

/** The output of one command. */
export interface Recorder {
  readonly take: ProcessRequest["onOutput"]
  /** Publishes what is not yet published, at the end. */
  readonly flush: Effect.Effect<void>
  /** Both streams, bounded together, and what the model should know about what is missing. */
  readonly report: () => { readonly stdout: string; readonly stderr: string; readonly notes: ReadonlyArray<string> }
  /** The file that keeps the whole, when there is one. */
  readonly path: () => string | undefined
}

/** All bytes in order of arrival: held while they fit the limits, then in a file. */
const makeKeeper = (open: Effect.Effect<Spill, FileFailed>, fits: () => boolean) => {
  const gate = Semaphore.makeUnsafe(1)
  let held: Array<Uint8Array> = []
  let spill: Spill | undefined
  let failure: FileFailed | undefined
  let total = 0
  let written = 0
  const append = Effect.fnUntraced(function*(to: Spill, bytes: Uint8Array) {
    const part = bytes.subarray(0, MAX_SPILL_BYTES - written)
    written += part.length
    if (part.length > 0) yield* to.append(part)
  })
  const add = Effect.fnUntraced(function*(chunk: Uint8Array) {
    total += chunk.length
    if (failure !== undefined) return
    if (spill !== undefined) return yield* append(spill, chunk)
    held.push(chunk)
    if (fits()) return
    spill = yield* open
    const before = held
    held = []
    for (const bytes of before) yield* append(spill, bytes)
  })
  const keep = (chunk: Uint8Array) =>
    gate.withPermit(add(chunk).pipe(Effect.catch((error) =>
      Effect.sync(() => {
        failure = error
        held = []
      })
    )))
  const note = (): string => {
    if (spill === undefined || failure !== undefined) return `[cut; the whole could not be kept: ${failure?.message ?? "it is not text"}]`
    return `[cut; ${written < total ? `the first ${written} of ${total}` : `all ${total}`} bytes are in ${spill.path}; look into it with bash]`
  }
  return { keep, note, path: () => spill?.path }
}

/** A recorder for one command. Its file stays open as long as the scope. */
export const makeRecorder = Effect.fnUntraced(function*(
  { limits, live, spill }: RecorderOptions
): Effect.fn.Return<Recorder, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const maxBytes = Math.max(RESERVE_BYTES, limits.maxBytes - RESERVE_BYTES)
  const maxLines = Math.max(RESERVE_LINES, limits.maxLines - RESERVE_LINES)
  const tapes = { stdout: new Tape(maxBytes), stderr: new Tape(maxBytes) }
  const { stderr, stdout } = tapes
  const keeper = makeKeeper(
    spill.pipe(Scope.provide(scope)),
    () => stdout.total + stderr.total <= maxBytes && stdout.lines + stderr.lines <= maxLines
  )
  const deltas = yield* makeLiveOutput(live)
  return {
    take: (stream, chunk) => {
      tapes[stream].push(chunk)
      return Effect.andThen(keeper.keep(chunk), deltas.take(stream, chunk))
    },
    report: () => {
      // stderr may have half, and what stdout leaves; stdout has the rest.
      const share = {
        maxBytes: Math.min(stderr.total, Math.max(Math.floor(maxBytes / 2), maxBytes - stdout.total)),
        maxLines: Math.min(stderr.lines, Math.max(Math.floor(maxLines / 2), maxLines - stdout.lines))
      }
      const errors = stderr.bounded(share)
      const output = stdout.bounded({ maxBytes: maxBytes - share.maxBytes, maxLines: maxLines - share.maxLines })
      return { stdout: output.text, stderr: errors.text, notes: errors.dropped + output.dropped > 0 ? [keeper.note()] : [] }
    },
    flush: deltas.flush,
    path: keeper.path
  }
})
