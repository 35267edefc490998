/** What runs on this machine, as far as Linux shows it in `/proc`. Elsewhere nothing is known. */
import { Effect, FileSystem, Option } from "effect"

/** A live process. */
export interface RunningProcess {
  readonly pid: number
  readonly group: number
  /** Its command line, cut at 80 characters. */
  readonly command: string
  /** Neither the group nor the mark says whose it is. */
  readonly isOrphan: boolean
}

/**
 * Which processes are meant: members of a group, those that were started with `mark` at the beginning of an environment entry,
 * and, of those that threw their environment away, the ones whose parents have died and that stayed in a folder.
 */
export interface ProcessQuery {
  readonly mark: string
  readonly group?: number
  /** That folder, a real path. It is looked at with `after` alone: what is older is somebody else's. */
  readonly folder?: string
  /** Only pids above this one. */
  readonly after?: number
}

/**
 * Looks for live processes, undefined where the system does not show them. Those of other users have no readable
 * environment and are not found by a mark.
 */
export type FindProcesses = (query: ProcessQuery) => Effect.Effect<ReadonlyArray<RunningProcess> | undefined>

const MAX_COMMAND_CHARS = 80

/** What follows the name in the text of `/proc/PID/stat`, which may hold blanks and parentheses: state, parent, group. */
const fieldsOf = (stat: string): ReadonlyArray<string> => stat.slice(stat.lastIndexOf(")") + 2).split(" ")

/** A search through `/proc`; `self` is the process that started what is looked for. */
export const makeFindProcesses = (fs: FileSystem.FileSystem, self: number): FindProcesses => {
  const text = (pid: number, name: string) => fs.readFileString(`/proc/${pid}/${name}`).pipe(Effect.orElseSucceed(() => ""))
  const parentOf = (pid: number) => Effect.map(text(pid, "stat"), (stat) => Number(fieldsOf(stat)[1]))
  /** Whose children orphans of ours become: the first process, or one of our ancestors that takes them in. */
  let reapers: ReadonlySet<number> | undefined
  const findReapers = Effect.gen(function*() {
    const found = new Set([1])
    for (let pid = yield* parentOf(self); pid > 1 && !found.has(pid); pid = yield* parentOf(pid)) found.add(pid)
    return (reapers = found)
  })
  const isOrphanIn = Effect.fnUntraced(function*(pid: number, parent: number, folder: string) {
    if (!(reapers ?? (yield* findReapers)).has(parent)) return false
    const at = yield* Effect.orElseSucceed(fs.readLink(`/proc/${pid}/cwd`), () => "")
    return at === folder || at.startsWith(`${folder}/`)
  })
  const look = Effect.fnUntraced(function*(pid: number, { after, folder, group, mark }: ProcessQuery): Effect.fn.Return<Option.Option<RunningProcess>> {
    const [, parent, found] = fieldsOf(yield* text(pid, "stat"))
    const isMarked = `\0${yield* text(pid, "environ")}`.includes(`\0${mark}`)
    const isKnown = isMarked || Number(found) === group
    if (!isKnown && (after === undefined || folder === undefined || !(yield* isOrphanIn(pid, Number(parent), folder)))) return Option.none()
    const command = (yield* text(pid, "cmdline")).replaceAll("\0", " ").trim()
    // Only what has ended and waits to be reaped has no command line.
    return command === "" ? Option.none() : Option.some({ pid, group: Number(found), command: command.slice(0, MAX_COMMAND_CHARS), isOrphan: !isKnown })
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
