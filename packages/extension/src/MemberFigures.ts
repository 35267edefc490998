/** Reads how a member stands; what of it is not counted already is asked of the platform here, and at no other time. */
import { Effect, FileSystem } from "effect"
import { isHookName } from "@nimlet/protocol"
import type { ExtensionFigures } from "./Figures.ts"
import type { Member } from "./Member.ts"

/** Resident memory of a process, in bytes; undefined where the platform does not tell it in a file. */
const residentBytes = (pid: number): Effect.Effect<number | undefined, never, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFileString(`/proc/${pid}/status`)).pipe(
    Effect.map((text) => {
      const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1]
      return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
    }),
    Effect.orElseSucceed(() => undefined)
  )

/** How a member stands now. */
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
