/**
 * A temporary workspace with a temporary home, the real nimlet run inside it, and the question what it left running. Nothing
 * outside the temporary folder is touched; `await using` removes it, and ends what still runs there.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs"
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, delimiter, dirname, join, resolve } from "node:path"
import { setTimeout } from "node:timers/promises"

/** An extension as files: its manifest, and programs or modules by their name in the folder. */
export interface ExtensionFiles {
  /** Becomes `extension.json`; a string is written as it stands. */
  readonly manifest?: object | string
  /** File name to content; all are made executable. */
  readonly files: Readonly<Record<string, string>>
  /** The root it goes into, from the workspace or, with `~/`, from the home; default `~/.nimlet/extensions`. */
  readonly root?: string
}

/** A temporary folder holding `work` (the workspace) and `home`. Paths are real paths. */
export interface Workspace extends AsyncDisposable {
  readonly root: string
  readonly work: string
  readonly home: string
  /** Writes a file, folders included; a path that begins with `~/` is in the home. Gives its full path. */
  readonly file: (path: string, content: string | Uint8Array) => Promise<string>
  /** Writes an extension folder and gives its full path. */
  readonly extension: (name: string, extension: ExtensionFiles) => Promise<string>
  /** Runs nimlet in the workspace with its home. */
  readonly nimlet: (args: ReadonlyArray<string>, options?: Partial<RunOptions>) => Promise<RunResult>
}

/** What a run of nimlet is given. Only PATH, HOME and LANG are set besides `env`. */
export interface RunOptions {
  readonly args: ReadonlyArray<string>
  readonly cwd: string
  readonly home: string
  readonly env?: Readonly<Record<string, string>>
  /** Piped in and ended. Without it stdin is empty, or with `holdStdin` a pipe nobody writes to. */
  readonly stdin?: string | Uint8Array
  readonly holdStdin?: boolean
  /** Gives it a terminal of its own, by util-linux `script`; stderr then arrives on stdout. */
  readonly tty?: boolean
  /** Killed with its whole process group after this long; default 20 s. */
  readonly limitMs?: number
  /** The program; default `NIMLET_BIN`, or the bundle. `.mjs`, `.js` and `.ts` are run by this Node. */
  readonly bin?: string
}

export interface RunResult {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  readonly durationMs: number
  /** True when it had to be killed at its limit. */
  readonly timedOut: boolean
}

/** A run that goes on. */
export interface Running {
  readonly child: ChildProcess
  readonly stdout: () => string
  readonly stderr: () => string
  /** Waits until a predicate of stdout holds; fails when the run ends before. */
  readonly until: (holds: (stdout: string) => boolean) => Promise<void>
  readonly signal: (signal: NodeJS.Signals) => void
  readonly ended: Promise<RunResult>
}

/** The root of the project. */
export const project = resolve(import.meta.dirname, "../..")

const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

/** The program and arguments that run nimlet. */
const commandOf = ({ args, bin = process.env["NIMLET_BIN"] ?? join(project, "apps/cli/dist/nimlet.mjs"), tty }: RunOptions): readonly [string, ReadonlyArray<string>] => {
  if (!existsSync(bin)) throw new Error(`nimlet is not built: there is no ${bin}`)
  const command = /\.[mc]?[jt]s$/.test(bin) ? [process.execPath, bin, ...args] : [bin, ...args]
  return tty === true ? ["script", ["-qefc", command.map(quote).join(" "), "/dev/null"]] : [command[0]!, command.slice(1)]
}

/** Starts nimlet in a process group of its own. */
export const startNimlet = (options: RunOptions): Running => {
  const [program, args] = commandOf(options)
  const start = performance.now()
  const child = spawn(program, args, {
    cwd: options.cwd,
    detached: true,
    stdio: [options.stdin === undefined && options.holdStdin !== true ? "ignore" : "pipe", "pipe", "pipe"],
    env: { PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter), HOME: options.home, LANG: "C.UTF-8", ...options.env }
  })
  const chunks: { readonly stdout: Array<Buffer>; readonly stderr: Array<Buffer> } = { stdout: [], stderr: [] }
  const text = (name: "stdout" | "stderr") => Buffer.concat(chunks[name]).toString("utf8")
  const watchers = new Set<() => void>()
  const wake = () => watchers.forEach((watch) => watch())
  for (const name of ["stdout", "stderr"] as const) {
    child[name]!.on("data", (data: Buffer) => {
      chunks[name].push(data)
      wake()
    })
  }
  child.stdin?.on("error", () => undefined)
  if (options.stdin !== undefined) child.stdin?.end(options.stdin)
  const signal = (name: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name)
    } catch {
      // The group is gone already.
    }
  }
  let timedOut = false
  let over = false
  const limit = globalThis.setTimeout(() => {
    timedOut = true
    signal("SIGKILL")
  }, options.limitMs ?? 20_000)
  const ended = new Promise<RunResult>((done, failed) => {
    child.once("error", failed)
    child.once("close", (code, signal) => {
      clearTimeout(limit)
      over = true
      wake()
      done({ code, signal, stdout: text("stdout"), stderr: text("stderr"), durationMs: performance.now() - start, timedOut })
    })
  })
  const until = (holds: (stdout: string) => boolean) =>
    new Promise<void>((done, failed) => {
      const watch = () => {
        const held = holds(text("stdout"))
        if (!held && !over) return
        watchers.delete(watch)
        if (held) done()
        else failed(new Error(`the run ended before:\n${text("stdout")}\n${text("stderr")}`))
      }
      watchers.add(watch)
      watch()
    })
  return {
    child,
    stdout: () => text("stdout"),
    stderr: () => text("stderr"),
    until,
    // Only nimlet itself gets it, as from a terminal's or a service's `kill`; its children are its own business.
    signal: (name) => void child.kill(name),
    ended
  }
}

/** Runs nimlet to its end, or to its limit. */
export const runNimlet = (options: RunOptions): Promise<RunResult> => startNimlet(options).ended

/** The records of a machine mode's stdout. Throws when a line is no JSON object or the last one has no end. */
export const records = (stdout: string): Array<Record<string, any>> => {
  if (stdout === "") return []
  if (!stdout.endsWith("\n")) throw new Error(`stdout ends within a line: ${stdout.slice(-200)}`)
  return stdout.slice(0, -1).split("\n").map((line, k) => {
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      throw new Error(`line ${k + 1} of stdout is no JSON: ${line.slice(0, 200)}`)
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`line ${k + 1} of stdout is no object: ${line.slice(0, 200)}`)
    return value
  })
}

/** A process that was found alive. */
export interface Survivor {
  readonly pid: number
  readonly command: string
}

const readProc = (pid: number, name: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8").replaceAll("\0", " ")
  } catch {
    return ""
  }
}

const folderOf = (pid: number): string => {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return ""
  }
}

/**
 * The processes that have to do with a temporary path: it is in their command line, their environment, or they stand in
 * it. Where there is no `/proc`, `ps` tells the command lines only. Processes that have ended but were not waited for don't count.
 */
export const survivors = (marker: string): Array<Survivor> => {
  if (!existsSync("/proc/self/cmdline")) {
    const lines = execFileSync("ps", ["-A", "-o", "pid=,command="], { encoding: "utf8" }).split("\n")
    return lines.filter((line) => line.includes(marker)).map((line) => ({ pid: Number.parseInt(line, 10), command: line.trim().replace(/^\d+ /, "") }))
  }
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => pid !== process.pid).flatMap((pid) => {
    const command = readProc(pid, "cmdline").trim()
    if (command === "" || ![command, readProc(pid, "environ"), folderOf(pid)].some((text) => text.includes(marker))) return []
    return /^State:\s+Z/m.test(readProc(pid, "status")) ? [] : [{ pid, command }]
  })
}

/** The survivors that are still there after at most `withinMs`; empty as soon as there are none. */
export const lastingSurvivors = async (marker: string, withinMs = 2_000): Promise<Array<Survivor>> => {
  const end = performance.now() + withinMs
  for (;;) {
    const found = survivors(marker)
    if (found.length === 0 || performance.now() >= end) return found
    await setTimeout(20)
  }
}

/** Makes a workspace. `prefix` names its folder, for paths with blanks for instance. */
export const makeWorkspace = async ({ prefix = "nimlet-test-" }: { readonly prefix?: string } = {}): Promise<Workspace> => {
  const root = await mkdtemp(join(await realpath(tmpdir()), prefix))
  const work = join(root, "work")
  const home = join(root, "home")
  await Promise.all([mkdir(work), mkdir(home)])
  const place = (path: string) => path.startsWith("~/") ? join(home, path.slice(2)) : resolve(work, path)
  const file = async (path: string, content: string | Uint8Array) => {
    const full = place(path)
    await mkdir(dirname(full), { recursive: true })
    await writeFile(full, content)
    return full
  }
  const extension = async (name: string, { files, manifest, root: under = "~/.nimlet/extensions" }: ExtensionFiles) => {
    const folder = join(place(under), name)
    await mkdir(folder, { recursive: true })
    if (manifest !== undefined) await file(join(folder, "extension.json"), typeof manifest === "string" ? manifest : JSON.stringify(manifest, null, 2))
    for (const [path, content] of Object.entries(files)) await chmod(await file(join(folder, path), content), 0o755)
    return folder
  }
  const remove = async () => {
    for (const { pid } of survivors(basename(root))) {
      try {
        process.kill(pid, "SIGKILL")
      } catch {
        // It ended by itself.
      }
    }
    await rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  }
  return {
    root,
    work,
    home,
    file,
    extension,
    nimlet: (args, options) => runNimlet({ args, cwd: work, home, ...options }),
    [Symbol.asyncDispose]: remove
  }
}

/** A workspace with everything that another one holds, in which the paths of that one are its own. */
export const copyWorkspace = async ({ root }: Workspace): Promise<Workspace> => {
  const copy = await makeWorkspace()
  await cp(root, copy.root, { recursive: true, preserveTimestamps: true })
  for (const entry of await readdir(copy.root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const text = await readFile(file, "latin1")
    if (text.includes(root)) await writeFile(file, text.replaceAll(root, copy.root), "latin1")
  }
  return copy
}
