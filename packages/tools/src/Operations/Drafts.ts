/**
 * Files on their way into place, each written beside the one it is to become. What a killed process left of them is taken away
 * by the next one that writes in that folder.
 */
import { Effect, type FileSystem, type Path, Random } from "effect"
import { hostname } from "node:os"
import nodeProcess from "node:process"

/** Names for files on their way, and the way to be rid of those nobody finishes. */
export interface Drafts {
  /** A path in the folder that no file has. */
  readonly next: (folder: string) => Effect.Effect<string>
  /** Takes away what processes of this machine left in the folder that are gone. Looks once into each. */
  readonly sweep: (folder: string) => Effect.Effect<void>
}

/** Whether a process lives: only the system can say. */
const isAlive = (pid: number): boolean => {
  try {
    nodeProcess.kill(pid, 0)
    return true
  } catch (error) {
    // One of somebody else's may not be signalled, and lives.
    return !(error instanceof Error && "code" in error && error.code === "ESRCH")
  }
}

/** Drafts of this process. */
export const makeDrafts = (fs: FileSystem.FileSystem, path: Path.Path): Drafts => {
  // The same folder may be that of other machines, whose processes nobody can ask about here.
  const own = `.nimlet-${hostname().replace(/\W/g, "").slice(0, 32)}-`
  const swept = new Set<string>()
  const isLeft = (name: string): boolean => {
    const pid = name.startsWith(own) ? Number(/^(\d+)-[0-9a-z]+\.tmp$/.exec(name.slice(own.length))?.[1]) : NaN
    return pid > 0 && pid !== nodeProcess.pid && !isAlive(pid)
  }
  return {
    next: (folder) => Effect.map(Random.nextIntBetween(0, 2 ** 52), (number) => path.join(folder, `${own}${nodeProcess.pid}-${number.toString(36)}.tmp`)),
    sweep: Effect.fnUntraced(function*(folder) {
      if (swept.has(folder)) return
      swept.add(folder)
      const names = yield* Effect.orElseSucceed(fs.readDirectory(folder), (): Array<string> => [])
      yield* Effect.forEach(names.filter(isLeft), (name) => Effect.ignore(fs.remove(path.join(folder, name), { force: true })), { discard: true })
    })
  }
}
