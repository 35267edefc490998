/** `bash`: a shell command, its output live, bounded for the model and whole in a file. */
import { Clock, Effect, Option } from "effect"
import type { Scope } from "effect"
import { boundedArgument, textArgument } from "./Arguments.ts"
import { Operations } from "./Operations.ts"
import type { Files, ProcessExit } from "./Operations.ts"
import { modelLimits } from "./Output.ts"
import { makeRecorder } from "./Recorder.ts"
import type { Recorder } from "./Recorder.ts"
import { errorResult } from "./Tool.ts"
import type { Tool, ToolContext, ToolResult } from "./Tool.ts"

const DEFAULT_TIMEOUT_SECONDS = 120
/** Longer than any timer the platform can set. */
const MAX_TIMEOUT_SECONDS = 2_000_000

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

/** The result of a call; `exit` is undefined when the time ran out. */
const report = (recorder: Recorder, exit: ProcessExit | undefined, seconds: number, duration: number): ToolResult => {
  const { notes, stderr, stdout } = recorder.report()
  const head = exit === undefined
    ? `TIMEOUT after ${seconds}s (${duration} ms)`
    : `exit_code: ${exit.code}\nduration_ms: ${duration}`
  const more = [...notes, ...(exit?.background === true ? ["[a background process is still running]"] : [])]
  const body = block("stdout", stdout) + block("stderr", stderr)
  const text = `${head}\n${body === "" ? "\n(no output)\n" : body}${more.length === 0 ? "" : `\n${more.join("\n")}\n`}`
  const details = {
    ...(exit === undefined ? { timed_out: true } : { exit_code: exit.code }),
    duration_ms: duration,
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
    description: `Run a shell command in the workspace; stdin is empty. Output over ${Math.round(maxBytes / 1024)} KB or 2000 lines loses its middle, a file keeps all of it.`,
    inputSchema: {
      type: "object",
      properties: {
        command: { type: "string" },
        timeout_seconds: { type: "integer", minimum: 1, description: `default ${DEFAULT_TIMEOUT_SECONDS}` }
      },
      required: ["command"]
    },
    capabilities: ["write", "shell", "network"],
    run: Effect.fnUntraced(function*(args, context) {
      const { files, processes } = yield* Operations
      const seconds = boundedArgument(args, "timeout_seconds", DEFAULT_TIMEOUT_SECONDS, MAX_TIMEOUT_SECONDS)
      const recorder = yield* record(files, context, maxBytes)
      const started = yield* Clock.currentTimeMillis
      const exit = yield* processes.run({
        command: options.shell ?? "/bin/sh",
        args: ["-lc", textArgument(args, "command") ?? ""],
        ...(options.env === undefined ? {} : { env: options.env }),
        onOutput: recorder.take
      }).pipe(Effect.timeoutOption(`${seconds} seconds`))
      const duration = (yield* Clock.currentTimeMillis) - started
      return report(recorder, Option.getOrUndefined(exit), seconds, duration)
    }, Effect.scoped, Effect.catch((error) => Effect.succeed(errorResult(error.message))))
  }
}
