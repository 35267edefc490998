/** ripgrep, which the host knows how to find: what `createGrepTool` and `createFindTool` stand on. */
import { spawn } from "node:child_process"

/** One search. */
export interface SearchOptions {
  readonly cwd: string
  readonly signal?: AbortSignal | undefined
  /** Takes a line; false when that is enough. */
  readonly take: (line: string) => boolean
}

let programs: () => Promise<ReadonlyArray<string>> = async () => ["rg"]

/** Says how the host is asked for the programs to try. */
export const connectSearch = (ask: () => Promise<ReadonlyArray<string>>): void => {
  programs = ask
}

/** Of every run: hidden files are searched, `.git` is not, ignore files hold outside a repository too. */
const always = ["--no-config", "--color=never", "--hidden", "--no-require-git", "--glob=!.git", "--path-separator=/"]

/** False when there is no such program. */
const run = (program: string, args: ReadonlyArray<string>, { cwd, signal, take }: SearchOptions): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, [...always, ...args], { cwd, stdio: ["ignore", "pipe", "pipe"] })
    const decoder = new TextDecoder()
    let enough = false
    let rest = ""
    let said = ""
    const stop = (): void => void child.kill()
    signal?.addEventListener("abort", stop, { once: true })
    child.stdout.on("data", (data: Uint8Array) => {
      const lines = `${rest}${decoder.decode(data, { stream: true })}`.split("\n")
      rest = lines.pop() ?? ""
      if (enough || lines.every(take)) return
      enough = true
      stop()
    })
    child.stderr.on("data", (data: Uint8Array) => {
      said = `${said}${Buffer.from(data).toString("utf8")}`.slice(0, 2_000)
    })
    child.on("error", (error) => "code" in error && error.code === "ENOENT" ? resolve(false) : reject(error))
    child.on("close", (code) => {
      signal?.removeEventListener("abort", stop)
      if (signal?.aborted === true) reject(new Error("Operation aborted"))
      // 1: nothing was found.
      else if (!enough && code !== 0 && code !== 1) reject(new Error(said.trim() || `ripgrep ended with code ${code}`))
      else resolve(true)
    })
  })

/** Searches; throws what ripgrep says is wrong, and when there is none. */
export const search = async (args: ReadonlyArray<string>, options: SearchOptions): Promise<void> => {
  if (options.signal?.aborted === true) throw new Error("Operation aborted")
  for (const program of await programs()) {
    if (await run(program, args, options)) return
  }
  throw new Error("ripgrep was not found; install it so that `rg` is on the PATH")
}
