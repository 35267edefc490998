/** What runs on this machine, as far as Linux shows it in `/proc`. Elsewhere nothing is known. */
import { Effect, FileSystem, Option } from "effect"

/** A live process. */
export interface RunningProcess {
  readonly pid: number
  readonly group: number
  /** Its command line, cut at 80 characters. */
  readonly command: string
}

/** Which processes are meant: members of a group, or those that were started with `mark` at the beginning of an environment entry. */
export interface ProcessQuery {
  readonly mark: string
  readonly group?: number
  /** Only pids above this one. */
  readonly after?: number
}

/**
 * Looks for live processes, undefined where the system does not show them. Those of other users have no readable
 * environment and are not found by a mark.
 */
export type FindProcesses = (query: ProcessQuery) => Effect.Effect<ReadonlyArray<RunningProcess> | undefined>

const MAX_COMMAND_CHARS = 80

/** The group in the text of `/proc/PID/stat`: the third field after the name, which may hold blanks and parentheses. */
const groupOf = (stat: string): number => Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2])

/** A search through `/proc`. */
export const makeFindProcesses = (fs: FileSystem.FileSystem): FindProcesses => {
  const text = (pid: number, name: string) => fs.readFileString(`/proc/${pid}/${name}`).pipe(Effect.orElseSucceed(() => ""))
  const look = Effect.fnUntraced(function*(pid: number, { group, mark }: ProcessQuery): Effect.fn.Return<Option.Option<RunningProcess>> {
    const found = groupOf(yield* text(pid, "stat"))
    const isMarked = `\0${yield* text(pid, "environ")}`.includes(`\0${mark}`)
    if (!isMarked && found !== group) return Option.none()
    const command = (yield* text(pid, "cmdline")).replaceAll("\0", " ").trim()
    // Only what has ended and waits to be reaped has no command line.
    return command === "" ? Option.none() : Option.some({ pid, group: found, command: command.slice(0, MAX_COMMAND_CHARS) })
  })
  return Effect.fnUntraced(function*(query) {
    const names = yield* fs.readDirectory("/proc").pipe(Effect.orElseSucceed((): Array<string> => []))
    const all = names.filter((name) => /^\d+$/.test(name)).map(Number)
    if (all.length === 0) return undefined
    const pids = all.filter((pid) => pid > (query.after ?? 0))
    const found = yield* Effect.forEach(pids, (pid) => look(pid, query), { concurrency: 8 })
    return found.flatMap(Option.toArray)
  })
}
