/** `withFileMutationQueue`: one queue a file, shared with the built-in tools and all other extensions, so it lies in the host. */
import { realpathSync } from "node:fs"
import { resolve } from "node:path"
import { type Fields, isCallback, textOf } from "./Values.ts"

let ask: ((method: string, params: Fields) => Promise<Fields>) | undefined

/** Says how the host is asked. */
export const connectQueue = (call: (method: string, params: Fields) => Promise<Fields>): void => {
  ask = call
}

const keyOf = (path: string): string => {
  const whole = resolve(path)
  try {
    return realpathSync(whole)
  } catch {
    // A new file has no real path yet.
    return whole
  }
}

/** Runs `work` while nobody else in the session changes the file; gives what it gives. */
export const withFileMutationQueue = async (path: unknown, work: unknown): Promise<unknown> => {
  if (!isCallback(work)) throw new TypeError("withFileMutationQueue: a function is needed")
  if (ask === undefined) return await work()
  const { lease } = await ask("file.lock", { path: keyOf(textOf(path)) })
  try {
    return await work()
  } finally {
    await ask("file.unlock", { lease })
  }
}
