/** The one place where every line between the host and an extension can be seen. */
import { Clock, Context, Effect, Result, Stream } from "effect"
import type { Transport } from "./Transport.ts"

/** One line as it crossed the edge. `at` is in milliseconds. */
export interface Frame {
  /** Key of the extension. */
  readonly extension: string
  /** `out` is to the extension. */
  readonly direction: "in" | "out"
  readonly line: string
  readonly at: number
}

/** Sees every frame that crosses, in order; incoming ones before they are acted on. `undefined`, the default, costs nothing. */
export const FrameTap = Context.Reference<((frame: Frame) => Effect.Effect<void>) | undefined>(
  "@nimlet/extension/FrameTap",
  { defaultValue: () => undefined }
)

/** The transport with the tap at its edge; the same one when there is no tap. */
export const tapped = Effect.fnUntraced(function*(transport: Transport, extension: string) {
  const tap = yield* FrameTap
  if (tap === undefined) return transport
  const see = (direction: "in" | "out", line: string) =>
    Effect.flatMap(Clock.currentTimeMillis, (at) => tap({ extension, direction, line, at }))
  return {
    ...transport,
    send: (line: string) =>
      Effect.tap(transport.send(line), (sent) => sent === "accepted" ? see("out", line) : Effect.void),
    inbound: Stream.tap(transport.inbound, (line) => Result.isSuccess(line) ? see("in", line.success) : Effect.void)
  }
})
