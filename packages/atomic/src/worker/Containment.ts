/**
 * Keeps what an extension does by accident to itself: bytes for our standard output and terminal go to its log, programs it
 * starts get a group of their own and no terminal. It is hygiene, no security.
 */
import childProcess from "node:child_process"
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { dirname } from "node:path"
import { type Callback, type Fields, isCallback, isFields } from "./Values.ts"

const ours = new Set<unknown>([1, 2, "/dev/stdout", "/dev/stderr", "/dev/tty", "/proc/self/fd/1", "/proc/self/fd/2", "/dev/fd/1", "/dev/fd/2"])

/** Wraps the function `name` of a module; `change` makes its arguments. */
const wrap = (module: object, name: string, change: (args: ReadonlyArray<unknown>) => ReadonlyArray<unknown>): void => {
  const original: unknown = Reflect.get(module, name)
  if (!isCallback(original)) return
  const wrapped: Callback = function(this: unknown, ...args) {
    return Reflect.apply(original, this, change(args))
  }
  // Members such as `exec.__promisify__` belong to it.
  Object.defineProperties(wrapped, Object.getOwnPropertyDescriptors(original))
  Reflect.set(module, name, wrapped)
}

/** Where output of an extension goes instead; opened when it is first needed. */
class Log {
  readonly #file: string
  #fd: number | undefined

  constructor(file: string) {
    this.#file = file
  }

  get fd(): number {
    if (this.#fd === undefined) {
      fs.mkdirSync(dirname(this.#file), { recursive: true })
      this.#fd = fs.openSync(this.#file, "a", 0o600)
    }
    return this.#fd
  }
}

/** The standard streams a program is given: never ours. */
const stdioFor = (stdio: unknown, log: Log): unknown => {
  const one = (value: unknown, at: number): unknown => {
    const shared = value === "inherit" || value === 0 || value === process.stdin || ours.has(value) || value === process.stdout || value === process.stderr
    if (!shared) return value
    return at === 0 ? "ignore" : log.fd
  }
  if (stdio === "inherit") return ["ignore", log.fd, log.fd]
  return Array.isArray(stdio) ? stdio.map(one) : stdio
}

const withOwnStreams = (options: Fields, log: Log, more: Fields): Fields =>
  "stdio" in options ? { ...options, ...more, stdio: stdioFor(options["stdio"], log) } : { ...options, ...more }

/**
 * Installs the wrappers. `onChild` is told the process id of each program that runs beside the worker; programs that the
 * worker waits for (`execSync`) have none until they are over.
 */
export const contain = (logFile: string, onChild: (pid: number) => void): void => {
  const log = new Log(logFile)
  const elsewhere = (args: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
    ours.has(args[0]) ? [log.fd, ...args.slice(1)] : args
  for (const name of ["write", "writeSync", "writev", "writevSync", "writeFile", "writeFileSync", "appendFile", "appendFileSync"]) {
    wrap(fs, name, elsewhere)
  }
  wrap(fs, "createWriteStream", ([path, options, ...rest]) => {
    const fd = isFields(options) && ours.has(options["fd"]) || ours.has(path)
    return fd ? [path, { ...(isFields(options) ? options : {}), fd: log.fd, autoClose: false }, ...rest] : [path, options, ...rest]
  })

  for (const name of ["spawnSync", "execFileSync", "execSync"]) {
    wrap(childProcess, name, (args) => args.map((arg) => isFields(arg) ? withOwnStreams(arg, log, {}) : arg))
  }
  const { prototype } = childProcess.ChildProcess
  const spawn: unknown = Reflect.get(prototype, "spawn")
  if (isCallback(spawn)) {
    Reflect.set(prototype, "spawn", function(this: childProcess.ChildProcess, options: Fields) {
      const result = Reflect.apply(spawn, this, [withOwnStreams(options, log, { detached: true })])
      if (this.pid !== undefined) onChild(this.pid)
      return result
    })
  }

  const kill = process.kill.bind(process)
  process.kill = (pid, signal) => {
    if (pid === process.pid || pid === 0 || pid === -process.pid) {
      if (signal === 0) return true
      throw new Error("an extension may not send signals to the process it runs in")
    }
    return kill(pid, signal)
  }
  syncBuiltinESMExports()
}
