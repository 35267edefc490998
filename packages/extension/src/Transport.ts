/** One live connection to an extension, whatever carries it. */
import type { Effect, Result, Stream } from "effect"
import type { Companion } from "./Companion.ts"
import type { LineTooLong } from "./Transport/Lines.ts"

/** What became of an outgoing line. */
export type Sent = "accepted" | "full" | "too_large" | "closed"

/**
 * A connection. It is opened in a scope and gone, with its process or thread, when that scope closes. Reading and
 * writing never wait for each other.
 */
export interface Transport {
  /** Hands a line (without its newline) to a bounded outbox and returns at once; never waits for the peer. */
  readonly send: (line: string) => Effect.Effect<Sent>
  /**
   * The peer's lines, blank ones left out, an over-long one as a failure in its place. It ends when the peer writes no
   * more. It can be run once; not running it holds the peer back.
   */
  readonly inbound: Stream.Stream<Result.Result<string, LineTooLong>>
  /** Tells the peer that no more will come (end of its standard input), after what was accepted. */
  readonly endInput: Effect.Effect<void>
  /** Completes when the peer is gone or deaf, with how, as in `extension 'x' <how>`: `exited with code 1`. */
  readonly closed: Effect.Effect<string>
  /** Whether the peer has written half a line and not yet the rest of it. */
  readonly unfinished?: () => boolean
  /** The process on the other side, where there is one. */
  readonly pid?: number
  /** What its launcher adds to the protocol. */
  readonly companion?: Companion
}
