/** `bash`: a shell command, its output live, bounded for the model and whole in a file. */
import { Clock, Effect, Option } from "effect"
import type { Scope } from "effect"
import { boundedArgument, textArgument } from "./Arguments.ts"
import { Operations } from "./Operations.ts"
import type { Files, LeftProcess, ProcessExit } from "./Operations.ts"
import { modelLimits } from "./Output.ts"
import { makeRecorder } from "./Recorder.ts"
import type { Recorder } from "./Recorder.ts"
import { errorResult, preferStrict } from "./Tool.ts"
import type { Tool, ToolContext, ToolResult } from "./Tool.ts"

const DEFAULT_TIMEOUT_SECONDS = 120
/** Longer than any timer the platform can set. */
const MAX_TIMEOUT_SECONDS = 2_000_000

/** The longest single argument that Linux takes, its end included. */
const MAX_COMMAND_BYTES = 128 * 1024 - 1
/** So many processes that still run are named. */
const MAX_NAMED = 10

/** What the caller decides. */
export interface BashOptions {
  /** The shell, run as `SHELL -lc COMMAND`; `/bin/sh` when absent. */
  readonly shell?: string
  /** The whole environment of the command; the host's own when absent. */
  readonly env?: { readonly [name: string]: string }
  /** At most this much goes to the model; 50 KB when absent. */
  readonly maxOutputBytes?: number
}

const block = (name: string, text: string): string => text === "" ? "" : `\n${name}:\n${text.endsWith("\n") ? text : `${text}\n`}`

/** How a call ended. */
type Ending = ProcessExit | "timeout" | "interrupted"

/** What is left running, by name as far as known. */
const backgroundNote = ({ background, left }: ProcessExit): ReadonlyArray<string> => {
  if (!background) return []
  if (left.length === 0) return ["[a background process is still running; it ends with the session]"]
  const list = (some: ReadonlyArray<LeftProcess>) => {
    const named = some.slice(0, MAX_NAMED).map(({ command, escaped, pid }) => `${pid} ${command}${escaped ? " (in a process group of its own)" : ""}`)
    return `${named.join("; ")}${some.length > MAX_NAMED ? `; and ${some.length - MAX_NAMED} more` : ""}]`
  }
  const [ending, lasting] = [left.filter(({ outlives }) => outlives !== true), left.filter(({ outlives }) => outlives === true)]
  return [
    ...(ending.length === 0 ? [] : [`[still running in the background, until the session ends: ${list(ending)}`]),
    ...(lasting.length === 0 ? [] : [`[still running, and out of reach: it goes on when the session has ended, unless you end it: ${list(lasting)}`])
  ]
}

const report = (recorder: Recorder, ending: Ending, seconds: number, duration: number): ToolResult => {
  const { notes, stderr, stdout } = recorder.report()
  const head = ending === "timeout"
    ? `TIMEOUT after ${seconds}s (${duration} ms)`
    : ending === "interrupted"
    ? `INTERRUPTED (${duration} ms)`
    : `exit_code: ${ending.code}\nduration_ms: ${duration}`
  const exit = typeof ending === "string" ? undefined : ending
  const more = [...notes, ...(exit === undefined ? [] : backgroundNote(exit))]
  const body = block("stdout", stdout) + block("stderr", stderr)
  const text = `${head}\n${body === "" ? "\n(no output)\n" : body}${more.length === 0 ? "" : `\n${more.join("\n")}\n`}`
  const details = {
    ...(exit === undefined ? { [ending === "timeout" ? "timed_out" : "interrupted"]: true } : { exit_code: exit.code }),
    duration_ms: duration,
    ...(exit === undefined || exit.left.length === 0 ? {} : { left_running: exit.left }),
    ...(recorder.path() === undefined ? {} : { output_file: recorder.path() })
  }
  return { content: [{ type: "text", text }], isError: exit?.code !== 0, details }
}

const record = (files: Files, context: ToolContext, maxBytes: number): Effect.Effect<Recorder, never, Scope.Scope> =>
  makeRecorder({ spill: files.spill("bash"), live: context.output, limits: { ...modelLimits, maxBytes } })

/** The `bash` tool. */
export const bashTool = (options: BashOptions = {}): Tool<Operations> => {
  const maxBytes = options.maxOutputBytes ?? modelLimits.maxBytes
  return {
    name: "bash",
    description: `Run a shell command in the workspace; stdin is empty, background processes end with the session. Output over ${Math.round(maxBytes / 1024)} KB or 2000 lines loses its middle; a file keeps up to 64 MB.`,
    inputSchema: {
      type: "object",
      properties: {
        command: { type: "string" },
        timeout_seconds: { type: "integer", minimum: 1, description: `default ${DEFAULT_TIMEOUT_SECONDS}` }
      },
      required: ["command"],
      additionalProperties: false
    },
    constrainedSampling: preferStrict,
    capabilities: ["write", "shell", "network"],
    run: Effect.fnUntraced(function*(args, context) {
      const { files, processes } = yield* Operations
      const command = textArgument(args, "command") ?? ""
      if (Buffer.byteLength(command) > MAX_COMMAND_BYTES) {
        return errorResult(`command has more than ${MAX_COMMAND_BYTES} bytes, which no shell takes; write it to a file and run that`)
      }
      const seconds = boundedArgument(args, "timeout_seconds", DEFAULT_TIMEOUT_SECONDS, MAX_TIMEOUT_SECONDS)
      const recorder = yield* record(files, context, maxBytes)
      const started = yield* Clock.currentTimeMillis
      const finish = Effect.fnUntraced(function*(ending: Ending) {
        yield* recorder.flush
        return report(recorder, ending, seconds, (yield* Clock.currentTimeMillis) - started)
      })
      const exit = yield* processes.run({
        command: options.shell ?? "/bin/sh",
        args: ["-lc", command],
        ...(options.env === undefined ? {} : { env: options.env }),
        track: true,
        onOutput: recorder.take
      }).pipe(
        Effect.timeoutOption(`${seconds} seconds`),
        Effect.onInterrupt(() => Effect.flatMap(finish("interrupted"), context.interrupted ?? (() => Effect.void)))
      )
      return yield* finish(Option.getOrElse(exit, () => "timeout" as const))
    }, Effect.scoped, Effect.catch((error) => Effect.succeed(errorResult(error.message))))
  }
}
