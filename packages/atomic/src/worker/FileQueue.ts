/** `withFileMutationQueue`: one queue a file, shared with the built-in tools and all other extensions, so it lies in the host. */
import { realpathSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { type Fields, isCallback, textOf } from "./Values.ts"

/** How the host is asked for a file's turn and given it back. */
export interface HostQueue {
  readonly lock: (path: string) => Promise<Fields>
  readonly unlock: (lease: unknown) => void
}

let host: HostQueue | undefined

/** Says how the host is asked. */
export const connectQueue = (queue: HostQueue): void => {
  host = queue
}

/** The last one in line for each file here: only the first of them asks the host, so that waiting takes up one request a file. */
const lines = new Map<string, Promise<void>>()

const inLine = async (key: string, work: () => Promise<unknown>): Promise<unknown> => {
  const before = lines.get(key)
  const { promise, resolve } = Promise.withResolvers<void>()
  lines.set(key, promise)
  await before
  try {
    return await work()
  } finally {
    if (lines.get(key) === promise) lines.delete(key)
    resolve()
  }
}

const realOrNot = (folder: string, name: string): string | undefined => {
  try {
    return join(realpathSync(folder), name)
  } catch {
    return undefined
  }
}

const keyOf = (path: string): string => {
  const whole = resolve(path)
  try {
    return realpathSync(whole)
  } catch {
    // A new file has no real path yet; its folder may.
    return realOrNot(dirname(whole), basename(whole)) ?? whole
  }
}

/** Runs `work` while nobody else in the session changes the file; gives what it gives. */
export const withFileMutationQueue = async (path: unknown, work: unknown): Promise<unknown> => {
  if (!isCallback(work)) throw new TypeError("withFileMutationQueue: a function is needed")
  const key = keyOf(textOf(path))
  return await inLine(key, async () => {
    const lease = await host?.lock(key)
    try {
      return await work()
    } finally {
      if (lease !== undefined) host?.unlock(lease["lease"])
    }
  })
}
