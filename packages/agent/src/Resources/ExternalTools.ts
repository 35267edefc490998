/**
 * Tools of `tool.json` files: one process a call, which reads its arguments as one JSON value from standard input, writes
 * its result as one to standard output, and ends (seed 000, "How an extension differs from a tool").
 */
import { Duration, Effect, FileSystem, Option, Path, Result, Schema } from "effect"
import { schemaFaults } from "@nimlet/extension"
import { Capability, JsonObject } from "@nimlet/protocol"
import { errorResult, Operations, Output, textResult, type Tool } from "@nimlet/tools"
import { lastOfEach, pathsIn, type ResourceRoot, sheetIn } from "./ResourceFile.ts"

/** Where they lie, in the home folder and in a workspace. */
export const toolRoots = { own: [".nimlet/tools"], project: [".agent/tools", ".nimlet/tools"] } as const

const Text = Schema.String.check(Schema.isPattern(/\S/))

/** What a `tool.json` says. Without capabilities it is taken to do everything. */
const ToolFile = Schema.Struct({
  name: Text,
  description: Text,
  input_schema: JsonObject,
  command: Schema.NonEmptyArray(Schema.NonEmptyString),
  timeout_seconds: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0))),
  capabilities: Schema.optionalKey(Schema.NullOr(Schema.Array(Capability)))
})

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(ToolFile))

/** Providers refuse each request with a tool of another name in it. */
const nameShape = /^[A-Za-z0-9_-]{1,64}$/
/** So many faults are told of one file. */
const mostFaults = 8

/** Why a provider would refuse a tool, in words that name its fields; empty when none would. */
const faultsOf = ({ input_schema, name }: typeof ToolFile.Type): ReadonlyArray<string> => [
  ...(nameShape.test(name.trim()) ? [] : [`name ${JSON.stringify(name)} must be of 1 to 64 letters, digits, _ and -`]),
  ...(input_schema["type"] === undefined || typeof input_schema["type"] !== "string" || input_schema["type"] === "object" ? [] : ['input_schema.type must be "object"']),
  ...schemaFaults(input_schema).filter(({ at }) => at !== "input_schema.type" || typeof input_schema["type"] !== "string").map(({ at, must }) => `${at} must ${must}`)
].slice(0, mostFaults)

const mostBytes = 1024 * 1024
/** What a call may print, in bytes from both ends of it. */
const mostOutput = 1024 * 1024
const defaultSeconds = 30

/** What calls run with. */
export interface ExternalToolOptions {
  readonly env: { readonly [name: string]: string | undefined }
  /** Names that are taken, in lower case. */
  readonly reserved: ReadonlySet<string>
}

/** Takes standard input from a file: the first word after the script is that file, the rest the command. */
const redirect = "exec \"$@\" < \"$0\""

const shown = (value: unknown, text: string): string => typeof value === "string" ? value : text

const call = Effect.fnUntraced(function*(program: ReadonlyArray<string>, args: JsonObject, env: ExternalToolOptions["env"]) {
  const { processes } = yield* Operations
  const fs = yield* FileSystem.FileSystem
  const input = yield* fs.makeTempFileScoped({ prefix: "nimlet-arguments-" })
  yield* fs.writeFileString(input, JSON.stringify(args), { mode: 0o600 })
  const [out, err] = [new Output.Tape(mostOutput), new Output.Tape(mostOutput)]
  const { code } = yield* processes.run({
    command: "/bin/sh",
    args: ["-c", redirect, input, ...program],
    env,
    onOutput: (stream, chunk) => Effect.sync(() => (stream === "stdout" ? out : err).push(chunk))
  })
  const whole = { maxBytes: Number.MAX_SAFE_INTEGER, maxLines: Number.MAX_SAFE_INTEGER }
  const text = out.bounded(whole).text.trim()
  const parsed = Result.try(() => JSON.parse(text) as unknown)
  const problem = code !== 0 ? `exited with code ${code}` : "did not print one JSON value"
  return code === 0 && Result.isSuccess(parsed)
    ? textResult(Output.boundMiddle(shown(parsed.success, text), Output.modelLimits).text)
    : errorResult(`The tool ${problem}.\n${Output.boundMiddle(text === "" ? err.bounded(whole).text.trim() : text, Output.modelLimits).text}`.trimEnd())
}, Effect.scoped)

const toolOf = (folder: string, file: typeof ToolFile.Type, path: Path.Path, env: ExternalToolOptions["env"]): Tool<Operations | FileSystem.FileSystem> => {
  const [first, ...rest] = file.command
  const program = [path.resolve(folder, first), ...rest]
  const seconds = file.timeout_seconds ?? defaultSeconds
  return {
    name: file.name.trim(),
    description: file.description,
    inputSchema: file.input_schema,
    capabilities: file.capabilities ?? ["write", "shell", "network"],
    run: (args) =>
      call(program, args, env).pipe(
        Effect.timeoutOption(Duration.seconds(seconds)),
        Effect.map(Option.getOrElse(() => errorResult(`The tool did not end in ${seconds} s, and was ended.`))),
        Effect.catch((error) => Effect.succeed(errorResult(error.message)))
      )
  }
}

/** The tools in these roots, of two with one name the later, and a sentence for each that is skipped. */
export const loadExternalTools = Effect.fnUntraced(function*(roots: ReadonlyArray<ResourceRoot>, { env, reserved }: ExternalToolOptions) {
  const path = yield* Path.Path
  const fs = yield* FileSystem.FileSystem
  const folders = yield* Effect.forEach(roots, (root) => pathsIn(root.path), { concurrency: "unbounded" })
  const read = yield* Effect.forEach(folders.flat(), (folder) =>
    Effect.map(sheetIn(path.join(folder, "tool.json"), mostBytes), Option.map((text) => ({ folder, file: Result.flatMap(Result.mapError(text, (message) => ({ message })), decode) }))), { concurrency: 16 })
  const warnings: Array<string> = []
  const tools: Array<Tool<Operations | FileSystem.FileSystem>> = []
  for (const { file, folder } of read.flatMap((one) => Option.toArray(one))) {
    const faults = Result.isSuccess(file) ? faultsOf(file.success) : []
    if (Result.isFailure(file)) warnings.push(`skipping ${folder}: tool.json: ${file.failure.message.replaceAll(/\s*\n\s*/g, " ")}`)
    else if (faults.length > 0) warnings.push(`skipping ${folder}: tool.json: ${faults.join("; ")}`)
    else if (reserved.has(file.success.name.trim().toLowerCase())) warnings.push(`skipping ${folder}: tool '${file.success.name}' collides with a built-in tool`)
    else if (!(yield* Effect.orElseSucceed(fs.exists(path.resolve(folder, file.success.command[0])), () => false))) warnings.push(`skipping ${folder}: executable not found: ${path.resolve(folder, file.success.command[0])}`)
    else tools.push(toolOf(folder, file.success, path, env))
  }
  return { tools: lastOfEach(tools), warnings }
})
