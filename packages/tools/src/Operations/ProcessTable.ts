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
  /** That folder, a real path. It is looked at with `after` alone: what has been there longer is somebody else's. */
  readonly folder?: string
  /** Only what was started after this process. */
  readonly after?: Birth
}

/** A process, and how many seconds the system had run before it was started. */
export interface Birth {
  readonly pid: number
  readonly uptime: number
}

/**
 * Looks for live processes, undefined where the system does not show them. Those of other users have no readable
 * environment and are not found by a mark.
 */
export type FindProcesses = (query: ProcessQuery) => Effect.Effect<ReadonlyArray<RunningProcess> | undefined>

const MAX_COMMAND_CHARS = 80
/** The system's ticks a second, as `/proc` counts for every program. */
const TICKS = 100
/** In so many seconds no system starts as many processes as there are pids. */
const ROUND_SECONDS = 1

/** What follows the name in the text of `/proc/PID/stat`, which may hold blanks and parentheses: state, parent, group. */
const fieldsOf = (stat: string): ReadonlyArray<string> => stat.slice(stat.lastIndexOf(")") + 2).split(" ")
/** When a process was started, in the system's own ticks. Pids do not tell it: they begin again when they have run out. */
const startOf = (fields: ReadonlyArray<string>): number => Number(fields[19] ?? 0)

/** A search through `/proc`; `self` is the process that started what is looked for, `uptime` tells how many seconds the system has run. */
export const makeFindProcesses = (fs: FileSystem.FileSystem, self: number, uptime: () => number): FindProcesses => {
  const read = (name: string) => fs.readFileString(`/proc/${name}`).pipe(Effect.orElseSucceed(() => ""))
  const text = (pid: number, name: string) => read(`${pid}/${name}`)
  const fields = (pid: number) => Effect.map(text(pid, "stat"), fieldsOf)
  /** Whose children orphans of ours become: the first process, or one of our ancestors that takes them in. */
  let origin: { readonly reapers: ReadonlySet<number>; readonly started: number } | undefined
  const findOrigin = Effect.gen(function*() {
    const ours = yield* fields(self)
    const reapers = new Set([1])
    for (let pid = Number(ours[1]); pid > 1 && !reapers.has(pid); pid = Number((yield* fields(pid))[1])) reapers.add(pid)
    return (origin = { reapers, started: startOf(ours) })
  })
  /** Whether pids still tell who is younger: the last that was given is above this one, and they can't have been used up in between. */
  const isInOrder = ({ pid, uptime: before }: Birth) =>
    uptime() - before > ROUND_SECONDS ? Effect.succeed(false) : Effect.map(read("loadavg"), (load) => Number(load.split(" ")[4]) >= pid)
  const isOrphanIn = Effect.fnUntraced(function*(pid: number, stat: ReadonlyArray<string>, folder: string, after: Birth) {
    const { reapers, started } = origin ?? (yield* findOrigin)
    if (pid === self || startOf(stat) < Math.max(started, Math.floor(after.uptime * TICKS)) || !reapers.has(Number(stat[1]))) return false
    const at = yield* Effect.orElseSucceed(fs.readLink(`/proc/${pid}/cwd`), () => "")
    return at === folder || at.startsWith(`${folder}/`)
  })
  const look = Effect.fnUntraced(function*(pid: number, { after, folder, group, mark }: ProcessQuery): Effect.fn.Return<Option.Option<RunningProcess>> {
    const stat = yield* fields(pid)
    const found = stat[2]
    const isMarked = `\0${yield* text(pid, "environ")}`.includes(`\0${mark}`)
    const isKnown = isMarked || Number(found) === group
    if (!isKnown && (after === undefined || folder === undefined || !(yield* isOrphanIn(pid, stat, folder, after)))) return Option.none()
    const command = (yield* text(pid, "cmdline")).replaceAll("\0", " ").trim()
    // Only what has ended and waits to be reaped has no command line.
    return command === "" ? Option.none() : Option.some({ pid, group: Number(found), command: command.slice(0, MAX_COMMAND_CHARS), isOrphan: !isKnown })
  })
  return Effect.fnUntraced(function*(query) {
    const names = yield* fs.readDirectory("/proc").pipe(Effect.orElseSucceed((): Array<string> => []))
    const all = names.filter((name) => /^\d+$/.test(name)).map(Number)
    if (all.length === 0) return undefined
    const { after } = query
    const pids = after !== undefined && (yield* isInOrder(after)) ? all.filter((pid) => pid > after.pid) : all
    const found = yield* Effect.forEach(pids, (pid) => look(pid, query), { concurrency: 8 })
    return found.flatMap(Option.toArray)
  })
}
