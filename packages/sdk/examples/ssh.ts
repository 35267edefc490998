/**
 * The built-in tools, and what is typed behind `!`, on another machine:
 *
 *     nimlet -e ssh.ts --ssh me@example.org:/srv/app
 *
 * Without the flag everything stays on this one. It takes the system's `ssh`, with its keys and its configuration.
 */
import { spawn } from "node:child_process"
import {
  type BashOperations, createBashTool, createEditTool, createLocalBashOperations, createLsTool, createReadTool, createWriteTool, type EditOperations, type LsOperations,
  type ReadOperations, type WriteOperations
} from "@bastani/atomic"

/** What of the API is used here. */
interface Api {
  readonly registerFlag: (name: string, flag: { readonly type: "string"; readonly description: string }) => void
  readonly getFlag: (name: string) => unknown
  readonly registerTool: (tool: object) => void
  readonly on: (event: "user_bash", handler: () => { readonly operations: BashOperations } | undefined) => unknown
}

interface Remote {
  readonly host: string
  readonly folder: string
}

interface Running {
  readonly input?: string
  readonly signal?: AbortSignal | undefined
  readonly onData?: (data: Uint8Array) => void
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Runs a command there; gives its code and what it printed. */
const run = ({ host }: Remote, command: string, { input, onData, signal }: Running = {}): Promise<{ readonly code: number | null; readonly output: Buffer }> =>
  new Promise((resolve, reject) => {
    const child = spawn("ssh", ["-T", "-o", "BatchMode=yes", host, command], { stdio: "pipe" })
    const chunks: Array<Uint8Array> = []
    const take = (data: Uint8Array): void => {
      chunks.push(data)
      onData?.(data)
    }
    // Whatever still holds the line on the other side is not waited for.
    const stop = (): void => {
      child.kill()
      reject(new Error("aborted"))
    }
    signal?.addEventListener("abort", stop, { once: true })
    child.stdout.on("data", take)
    child.stderr.on("data", take)
    child.on("error", reject)
    child.on("close", (code) => {
      signal?.removeEventListener("abort", stop)
      resolve({ code, output: Buffer.concat(chunks) })
    })
    // A command that reads nothing may be over before it is written to.
    child.stdin.on("error", () => undefined)
    child.stdin.end(input ?? "")
  })

const operationsOn = (remote: Remote): ReadOperations & WriteOperations & EditOperations & LsOperations & BashOperations => {
  /** The output of a command that has to succeed. */
  const output = async (command: string, input?: string): Promise<Buffer> => {
    const { code, output } = await run(remote, command, input === undefined ? {} : { input })
    if (code !== 0) throw new Error(output.toString("utf8").trim() || `ssh ${remote.host}: code ${code}`)
    return output
  }
  const holds = async (test: string, path: string): Promise<boolean> => (await run(remote, `test ${test} ${quoted(path)}`)).code === 0
  const list = async (path: string): Promise<ReadonlyArray<string>> =>
    (await output(`ls -1A ${quoted(path)}`)).toString("utf8").split("\n").filter((name) => name !== "")
  const stat = async (path: string) => {
    const isFolder = await holds("-d", path)
    return { isDirectory: () => isFolder }
  }
  return {
    readFile: (path) => output(`cat ${quoted(path)}`),
    access: async (path) => void await output(`test -r ${quoted(path)} || { echo ${quoted(`cannot read ${path}`)}; exit 1; }`),
    stat,
    listDir: list,
    readdir: list,
    exists: (path) => holds("-e", path),
    writeFile: async (path, content) => void await output(`cat > ${quoted(path)}`, content),
    mkdir: async (path) => void await output(`mkdir -p ${quoted(path)}`),
    exec: async (command, cwd, { onData, signal, timeout }) => {
      const limits = timeout === undefined ? [] : [AbortSignal.timeout(timeout * 1000)]
      const any = AbortSignal.any([...(signal === undefined ? [] : [signal]), ...limits])
      const { code } = await run(remote, `cd ${quoted(cwd)} && { ${command}\n}`, { onData, signal: any })
      return { exitCode: code }
    }
  }
}

const factories = { read: createReadTool, write: createWriteTool, edit: createEditTool, ls: createLsTool, bash: createBashTool }

/** `--ssh USER@HOST[:FOLDER]`. */
export default function(pi: Api): void {
  pi.registerFlag("ssh", { type: "string", description: "USER@HOST[:FOLDER] where the built-in tools work" })
  const remote = (): Remote | undefined => {
    const [, host, folder = "."] = /^([^:]+)(?::(.+))?$/.exec(String(pi.getFlag("ssh") ?? "")) ?? []
    return host === undefined ? undefined : { host, folder }
  }
  for (const make of Object.values(factories)) {
    const here = make(process.cwd())
    pi.registerTool({
      ...here,
      // Flags are known when the session has begun, so where it works is found out call by call.
      execute: (...call: Parameters<typeof here.execute>) => {
        const there = remote()
        const tool = there === undefined ? here : make(there.folder, { operations: operationsOn(there) })
        return tool.execute(...call)
      }
    })
  }
  pi.on("user_bash", () => {
    const there = remote()
    if (there === undefined) return { operations: createLocalBashOperations() }
    const { exec } = operationsOn(there)
    return { operations: { exec: (command, _cwd, options) => exec(command, there.folder, options) } }
  })
}
