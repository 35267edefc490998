/**
 * What a launcher adds to the protocol for the extensions it brings to life: things the host knows and the peer keeps a
 * copy of, messages and host requests of its own. Programs of seeds 000 and 001 have none.
 */
import type { Effect } from "effect"
import type { JsonObject } from "@nimlet/protocol"
import type { HostRequestFailed } from "./SessionAccess.ts"

/** One life's additions. */
export interface Companion {
  /** Lines that have to be there before the next request or answer; called for each, so it must cost next to nothing. */
  readonly prelude: () => ReadonlyArray<string>
  /** Takes a message whose type the protocol does not have. False when it knows no such type either. */
  readonly hear: (line: JsonObject) => Effect.Effect<boolean>
  /** Serves a `host_request` whose method the protocol does not have; undefined when it has no such method either. */
  readonly serve: (method: string, line: JsonObject) => Effect.Effect<JsonObject, HostRequestFailed> | undefined
  /** Host requests of one extension that are served at the same time. */
  readonly servedAtOnce: number
}
