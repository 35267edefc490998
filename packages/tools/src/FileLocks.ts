/** One lock a file, made when someone comes and dropped when the last one leaves (edits to one real file are serial). */
import { Context, Effect, Semaphore } from "effect"

interface Lock {
  readonly semaphore: Semaphore.Semaphore
  users: number
}

/** Locks by real path. */
export interface FileLocks {
  /** Runs `self` alone among those with the same `key`; first come, first served. */
  readonly exclusively: <A, E, R>(key: string, self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** How many files are locked or waited for. */
  readonly size: () => number
}

/** An empty set of locks. */
export const makeFileLocks = (): FileLocks => {
  const locks = new Map<string, Lock>()
  const enter = (key: string) =>
    Effect.sync(() => {
      const lock = locks.get(key) ?? { semaphore: Semaphore.makeUnsafe(1), users: 0 }
      lock.users++
      locks.set(key, lock)
      return lock
    })
  const leave = (key: string, lock: Lock) =>
    Effect.sync(() => {
      if (--lock.users === 0) locks.delete(key)
    })
  return {
    exclusively: (key, self) =>
      Effect.acquireUseRelease(enter(key), (lock) => lock.semaphore.withPermit(self), (lock) => leave(key, lock)),
    size: () => locks.size
  }
}

/** The locks of this process: built-in tools and extensions that change files share them, whoever made either. */
export const FileQueue: Context.Reference<FileLocks> = Context.Reference("@nimlet/tools/FileQueue", { defaultValue: makeFileLocks })
