/** How one extension stands: what a person or a program may want to see of it while it runs. */
import { Effect, FileSystem } from "effect"
import type { ActorStatus } from "@nimlet/actor"
import { isHookName, type Registration } from "@nimlet/protocol"
import type { Found } from "./Discovery.ts"
import type { Member } from "./Member.ts"

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

/** Resident memory of a process, in bytes; undefined where the platform does not tell it in a file. */
export const residentBytes = (pid: number): Effect.Effect<number | undefined, never, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFileString(`/proc/${pid}/status`)).pipe(
    Effect.map((text) => {
      const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1]
      return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
    }),
    Effect.orElseSucceed(() => undefined)
  )

/** How a member stands now. Its memory is read here and at no other time. */
export const figuresOf = Effect.fnUntraced(function*({ family, folder, key, manifest, meter, project, ...member }: Member) {
  const state = yield* member.status
  const { pid } = meter
  const registration = member.registration()
  const figures: ExtensionFigures = {
    key,
    folder,
    family,
    manifest,
    project,
    state,
    registration,
    unknownEvents: registration?.events.filter((event) => !isHookName(event)) ?? [],
    ...meter.reading,
    memoryBytes: pid === undefined ? undefined : yield* residentBytes(pid)
  }
  return figures
})
