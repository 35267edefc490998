/** `createBashTool`: a command, its output as it comes, the end of it for the model and all of it in a file. */
import { appendFileSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { StringDecoder } from "node:string_decoder"
import { type CreatedTool, definition, operationsIn, textResult } from "./CreatedTool.ts"
import { type BashOperations, createLocalBashOperations } from "./Operations.ts"
import { type Fields, fieldsOf, isCallback, messageOf, textOf } from "../Values.ts"
import { DEFAULT_MAX_BYTES, formatSize, truncateTail, type TruncationResult } from "../Truncation.ts"

/** What a command has beside its output. */
export interface BashToolDetails {
  readonly truncation?: TruncationResult
  /** All of the output, where the model was not given it. */
  readonly fullOutputPath?: string
}

/** What is run; a spawn hook gives it back changed. */
export interface BashSpawnContext {
  readonly command: string
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** Of longer output only this much of its end is held. */
const held = 4 * DEFAULT_MAX_BYTES

/** Output as it comes: its end in memory, and, once that is not all, the whole in a file. */
class Output {
  text = ""
  path: string | undefined
  readonly #decoder = new StringDecoder("utf8")

  add(data: Uint8Array): void {
    const more = this.#decoder.write(Buffer.from(data))
    if (this.path === undefined && this.text.length + more.length > held) this.keep()
    if (this.path !== undefined) appendFileSync(this.path, more)
    this.text = (this.text + more).slice(-held)
  }

  keep(): void {
    if (this.path !== undefined) return
    this.path = join(mkdtempSync(join(tmpdir(), "nimlet-bash-")), "output.txt")
    appendFileSync(this.path, this.text, { mode: 0o600 })
  }
}

const changed = (hook: unknown, context: BashSpawnContext): BashSpawnContext => {
  if (!isCallback(hook)) return context
  const { command, cwd, env } = fieldsOf(hook(context))
  return { command: textOf(command, context.command), cwd: textOf(cwd, context.cwd), env: env === undefined ? context.env : environmentOf(fieldsOf(env)) }
}

const environmentOf = (env: Fields): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).flatMap(([name, value]) => typeof value === "string" ? [[name, value]] : []))

/** Makes the tool `bash` for the folder `cwd`; `spawnHook` and `commandPrefix` of the options change what is run. */
export const createBashTool = (cwd: string, options?: unknown): CreatedTool => {
  const operations = operationsIn<BashOperations>(options, createLocalBashOperations())
  const { commandPrefix, spawnHook } = fieldsOf(options)
  return definition(
    "bash",
    `Runs a command in bash; the last 2000 lines or ${formatSize(DEFAULT_MAX_BYTES)} of its output come back. \`timeout\` is in seconds.`,
    { command: { type: "string" }, timeout: { type: "number" } },
    ["command"],
    async (_id, params, signal, onUpdate) => {
      const { timeout } = fieldsOf(params)
      const command = [textOf(commandPrefix), textOf(fieldsOf(params)["command"])].filter((text) => text !== "").join("\n")
      const run = changed(spawnHook, { command, cwd, env: { ...process.env } })
      const output = new Output()
      const onData = (data: Uint8Array): void => {
        output.add(data)
        onUpdate?.(textResult(truncateTail(output.text).content))
      }
      const ended = await operations.exec(run.command, run.cwd, { onData, signal, env: run.env, ...(typeof timeout === "number" ? { timeout } : {}) })
        .catch((error: unknown) => ({ failed: messageOf(error) }))
      const truncation = truncateTail(output.text)
      if (truncation.truncated) output.keep()
      const cut = truncation.truncated || output.path !== undefined
      const details = cut ? { truncation, fullOutputPath: output.path } : {}
      const text = (truncation.content || "(no output)") + (cut ? `\n\n[The end of the output; all of it is in ${output.path}]` : "")
      if ("failed" in ended) throw new Error(`${text}\n\n${ended.failed}`)
      if (ended.exitCode !== 0) throw new Error(`${text}\n\nCommand exited with code ${ended.exitCode}`)
      return textResult(text, details)
    }
  )
}
