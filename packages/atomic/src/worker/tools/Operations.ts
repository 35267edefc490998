/**
 * What the tools that `@bastani/atomic` makes stand on (seed 004, "Remote Execution"): an extension brings its own for another
 * machine, and without them it is this one. Plain, as all of the worker half.
 */
import { spawn } from "node:child_process"
import { constants } from "node:fs"
import { access, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises"
import { isCallback, isFields } from "../Values.ts"

/** What is at a path. */
export interface PathStat {
  readonly isDirectory: () => boolean
}

/** For `read`; with both of the last two, folders are read as well, on the same machine. */
export interface ReadOperations {
  readonly readFile: (path: string) => Promise<Uint8Array | string>
  readonly access: (path: string) => Promise<void>
  readonly stat?: (path: string) => Promise<PathStat>
  readonly listDir?: (path: string) => Promise<ReadonlyArray<string>>
  /** Whether it is a picture, and of which type; without it the first bytes tell. */
  readonly detectImageMimeType?: (path: string) => Promise<string | null | undefined>
}

/** For `write`. */
export interface WriteOperations {
  readonly writeFile: (path: string, content: string) => Promise<void>
  readonly mkdir: (folder: string) => Promise<void>
}

/** For `edit`. */
export interface EditOperations {
  readonly readFile: (path: string) => Promise<Uint8Array | string>
  readonly writeFile: (path: string, content: string) => Promise<void>
  readonly access: (path: string) => Promise<void>
}

/** How a command is run: `timeout` in seconds. */
export interface BashExecOptions {
  readonly onData: (data: Uint8Array) => void
  readonly signal?: AbortSignal | undefined
  readonly timeout?: number | undefined
  readonly env?: NodeJS.ProcessEnv | undefined
}

/** For `bash`; the exit code is null where there is none. */
export interface BashOperations {
  readonly exec: (command: string, cwd: string, options: BashExecOptions) => Promise<{ readonly exitCode: number | null }>
}

/** Whether something can run commands. */
export const isBashOperations = (value: unknown): value is BashOperations => isFields(value) && isCallback(value["exec"])

/** For `ls`. */
export interface LsOperations {
  readonly exists: (path: string) => Promise<boolean>
  readonly stat: (path: string) => Promise<PathStat>
  readonly readdir: (path: string) => Promise<ReadonlyArray<string>>
}

/** For `grep`. */
export interface GrepOperations {
  readonly isDirectory: (path: string) => Promise<boolean>
  readonly readFile: (path: string) => Promise<string>
}

/** For `find`. */
export interface FindOperations {
  readonly exists: (path: string) => Promise<boolean>
  readonly glob: (pattern: string, cwd: string, options: { readonly ignore: ReadonlyArray<string>; readonly limit: number }) => Promise<ReadonlyArray<string>>
}

/** This machine's files, for every tool. */
export const localFiles: Required<Omit<ReadOperations, "detectImageMimeType">> & WriteOperations & EditOperations & LsOperations = {
  readFile: (path) => readFile(path),
  access: (path) => access(path, constants.R_OK),
  stat: (path) => stat(path),
  listDir: (path) => readdir(path),
  readdir: (path) => readdir(path),
  exists: (path) => access(path).then(() => true, () => false),
  writeFile: (path, content) => writeFile(path, content, "utf8"),
  mkdir: async (folder) => void await mkdir(folder, { recursive: true })
}

/** Between SIGTERM and SIGKILL. */
const graceMillis = 200

const runHere: BashOperations["exec"] = (command, cwd, { env, onData, signal, timeout }) =>
  new Promise((resolve, reject) => {
    const shell = process.env["SHELL"]?.endsWith("bash") === true ? process.env["SHELL"] : "bash"
    const child = spawn(shell, ["-c", command], { cwd, env: env ?? process.env, stdio: ["ignore", "pipe", "pipe"], detached: true })
    const kill = (name: NodeJS.Signals): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, name)
      } catch {
        // It has ended.
      }
    }
    let why: string | undefined
    const end = (reason: string): void => {
      why ??= reason
      kill("SIGTERM")
      setTimeout(kill, graceMillis, "SIGKILL").unref()
    }
    const aborted = (): void => end("aborted")
    const timer = timeout === undefined ? undefined : setTimeout(end, timeout * 1000, `timeout:${timeout}`)
    signal?.addEventListener("abort", aborted, { once: true })
    if (signal?.aborted === true) aborted()
    child.stdout.on("data", onData)
    child.stderr.on("data", onData)
    const over = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", aborted)
    }
    child.on("error", (error) => {
      over()
      reject(error)
    })
    child.on("close", (exitCode) => {
      over()
      if (why === undefined) resolve({ exitCode })
      else reject(new Error(why))
    })
  })

/** Commands of this machine, each in a process group that ends with it; an abort or the end of its time rejects. */
export const createLocalBashOperations = (): BashOperations => ({ exec: runHere })
