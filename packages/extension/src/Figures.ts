/** How one extension stands: what a person or a program may want to see of it while it runs. */
import type { ActorStatus } from "@nimlet/actor"
import type { Registration } from "@nimlet/protocol"
import type { Found } from "./Discovery.ts"

/** Times in milliseconds; counts since the session's start. */
export interface ExtensionFigures extends Pick<Found, "key" | "folder" | "family" | "manifest" | "project"> {
  readonly state: ActorStatus
  /** The process, where there is one. */
  readonly pid: number | undefined
  /** Lives after the first. */
  readonly restarts: number
  /** From start to registration, of the present life. */
  readonly startMillis: number | undefined
  readonly registration: Registration | undefined
  /** Events it subscribed to that there are not: they never fire. A slip of the pen makes a guard that guards nothing. */
  readonly unknownEvents: ReadonlyArray<string>
  /** Why it does not run, when it does not. */
  readonly fault: string | undefined
  /** Requests sent, by what became of them; `open` ones are waited for. */
  readonly requests: { readonly open: number; readonly answered: number; readonly failed: number }
  /** Times of the latest events it answered, at most 256 of them; undefined before the first. */
  readonly hookMillis: { readonly p50: number; readonly p95: number; readonly latest: ReadonlyArray<number> } | undefined
  readonly lateReplies: number
  /** Lines of it that were no protocol or too long. */
  readonly droppedLines: number
  /** Resident memory of the process, where the platform tells. */
  readonly memoryBytes: number | undefined
}
