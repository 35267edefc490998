/** A running command's output on its way to whoever watches: whole characters, few and bounded deltas. */
import { Clock, Effect, Scope } from "effect"

/** The first output goes out at once, what follows is gathered for so long. */
const PERIOD_MILLIS = 50
/** So much goes out in that manner; after that a flood is shown in pieces, so that it does not drown the reader. */
const BURST_CHARS = 1024 * 1024
const FLOOD_PERIOD_MILLIS = 250
const FLOOD_CHARS = 64 * 1024

/** Deltas of one command. */
export interface LiveOutput {
  /** Takes the next bytes of a stream. */
  readonly take: (stream: "stdout" | "stderr", chunk: Uint8Array) => Effect.Effect<void>
  /** Publishes what is still held. */
  readonly flush: Effect.Effect<void>
}

/** What does not fit is left out and counted in the delta; the result has it. Nothing is published after the scope. */
export const makeLiveOutput = Effect.fnUntraced(function*(
  publish: (delta: string) => Effect.Effect<void>
): Effect.fn.Return<LiveOutput, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const decoders = { stdout: new TextDecoder("utf-8", { ignoreBOM: true }), stderr: new TextDecoder("utf-8", { ignoreBOM: true }) }
  let held = ""
  let dropped = 0
  let burst = BURST_CHARS
  let last = -FLOOD_PERIOD_MILLIS
  let waiting = false

  const flush = Effect.suspend(() => {
    if (held === "") return Effect.void
    const delta = dropped === 0 ? held : `${held}\n[... ${dropped} characters not shown live ...]\n`
    burst -= held.length
    held = ""
    dropped = 0
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      last = now
      return publish(delta)
    })
  })

  const hold = (text: string): void => {
    const room = Math.max(FLOOD_CHARS, burst) - held.length
    // Half a surrogate pair is no character.
    const end = text.length > room && /[\ud800-\udbff]/.test(text.charAt(room - 1)) ? room - 1 : room
    const kept = dropped > 0 ? "" : text.slice(0, Math.max(0, end))
    held += kept
    dropped += text.length - kept.length
  }

  const take: LiveOutput["take"] = Effect.fnUntraced(function*(stream, chunk) {
    const text = decoders[stream].decode(chunk, { stream: true })
    if (text === "") return
    hold(text)
    if (waiting) return
    const wait = last + (burst > 0 ? PERIOD_MILLIS : FLOOD_PERIOD_MILLIS) - (yield* Clock.currentTimeMillis)
    if (wait <= 0) return yield* flush
    waiting = true
    yield* Effect.sleep(wait).pipe(
      Effect.andThen(Effect.suspend(() => {
        waiting = false
        return flush
      })),
      Effect.forkIn(scope)
    )
  })

  return { take, flush }
})
