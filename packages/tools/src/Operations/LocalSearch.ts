/** ripgrep: the npm package's program, else `rg` on the PATH. */
import { Effect } from "effect"
import nodeProcess from "node:process"
import { ProcessFailed, RipgrepMissing } from "../OperationError.ts"
import type { Processes, ProcessRequest, Search } from "../Operations.ts"

/** The program that comes with `@vscode/ripgrep`, imported when first wanted: the product's bundle does not hold it. */
export const importedRipgrep: Effect.Effect<string, unknown> = Effect.tryPromise(() => import("@vscode/ripgrep")).pipe(
  Effect.map(({ rgPath }) => rgPath)
)

const orOnPath = (own: Effect.Effect<string, unknown>): Effect.Effect<ReadonlyArray<string>> =>
  own.pipe(Effect.map((own) => [own, "rg"]), Effect.orElseSucceed(() => ["rg"]))

/** Where ripgrep may be, the best first. None of them need be there. */
export const ripgrepPrograms: Effect.Effect<ReadonlyArray<string>> = orOnPath(importedRipgrep)

/** An ignore file may be a device, which has no end. What a system has no limit for goes on without. */
const limited = `ulimit -v 1048576 2>/dev/null; exec "$0" "$@"`
/** A shell's word for a program that is not there, or cannot be started. */
const missingCodes: ReadonlySet<number> = new Set([126, 127])

/** The request with at most 1 GB of memory, where there is a shell to say so. */
const withLimit = (request: ProcessRequest): ProcessRequest =>
  nodeProcess.platform === "win32" ? request : { ...request, command: "/bin/sh", args: ["-c", limited, request.command, ...request.args] }

/** A search that has not ended by then may wait for the writer of a pipe that stands in the place of an ignore file. */
const patienceMillis = 3_000

/** Fails with the name of such a pipe below the place that is searched; never ends where there is none. */
const awaitPipe = Effect.fnUntraced(function*(processes: Processes, { args, cwd }: Pick<ProcessRequest, "args" | "cwd">) {
  if (nodeProcess.platform === "win32" || args.includes("--no-ignore")) return yield* Effect.never
  yield* Effect.sleep(patienceMillis)
  const decoder = new TextDecoder()
  let found = ""
  yield* Effect.ignore(processes.run({
    command: "find",
    args: [args.at(-1) ?? ".", "-type", "p", "(", "-name", ".gitignore", "-o", "-name", ".ignore", "-o", "-name", ".rgignore", ")", "-print"],
    ...(cwd === undefined ? {} : { cwd }),
    onOutput: (stream, chunk) => Effect.sync(() => void (stream === "stdout" && (found += decoder.decode(chunk, { stream: true }))))
  }))
  const [first = ""] = found.split("\n", 1)
  if (first === "") return yield* Effect.never
  return yield* new ProcessFailed({ command: "ripgrep", reason: `${first} is a pipe, and it would wait for its writer; take it away, or set include_ignored`, missing: false })
})

/** Search through `processes`. What was found is kept; a search for it that failed is made again. */
export const makeLocalSearch = (processes: Processes, ripgrep: Effect.Effect<string, unknown>): Search => {
  let found: string | undefined
  const candidates = Effect.suspend(() => found === undefined ? orOnPath(ripgrep) : Effect.succeed([found]))
  return {
    ripgrep: Effect.fnUntraced(function*(request) {
      for (const command of yield* candidates) {
        const exit = yield* Effect.raceFirst(processes.run(withLimit({ ...request, command })), awaitPipe(processes, request)).pipe(
          Effect.catchIf((error) => error.missing, () => Effect.undefined)
        )
        if (exit === undefined || missingCodes.has(exit.code)) continue
        found = command
        return exit
      }
      found = undefined
      return yield* new RipgrepMissing()
    })
  }
}
