/** From the words of a command line to an exit code. Everything a person reads about a failure is written here. */
import { Duration, Effect, Result, type Scope, Stdio } from "effect"
import manifest from "../package.json" with { type: "json" }
import { type Invocation, parseArgv, usage, UsageError } from "./Argv.ts"
import type { Host } from "./Host.ts"
import { jsonMode } from "./modes/Json.ts"
import type { Mode } from "./modes/Mode.ts"
import { asLines, printMode } from "./modes/Print.ts"
import { makeTextMode } from "./modes/Text.ts"
import { Output } from "./Output.ts"
import { run, type StartupError } from "./Run.ts"
import { readPiped } from "./StandardInput.ts"
import { readTerminal } from "./TerminalInput.ts"

const usageFailed = Effect.fnUntraced(function*(problem: string) {
  yield* (yield* Output).err(`${problem}\n\n${usage}`)
  return 2
})

/** What helps against a failure to start, where its own words do not say it. */
const remedyOf = (error: StartupError): string => {
  switch (error._tag) {
    case "MissingCredential":
      return "; or put a key into ~/.nimlet/auth.json, or give one with --api-key"
    case "MissingModel":
      return "; name one with --model"
    case "SessionLocked":
      return "; wait for it, or leave --resume out to start a session of your own"
    case "SettingsInvalid":
      return "; mend the file, it was left as it is"
    default:
      return ""
  }
}

const modeOf = Effect.fnUntraced(function*(invocation: Invocation, host: Host): Effect.fn.Return<Mode, never, Output | Stdio.Stdio | Scope.Scope> {
  const output = yield* Output
  const stdio = yield* Stdio.Stdio
  if (invocation.mode === "json") return jsonMode(output)
  const atTerminal = (yield* stdio.stdinIsTerminal) && (yield* stdio.stdoutIsTerminal)
  if (invocation.mode === "print" || !atTerminal) return printMode(output)
  const colours = (host.environment["NO_COLOR"] ?? "") === "" && host.environment["TERM"] !== "dumb"
  return yield* makeTextMode({ output, readLine: yield* readTerminal, colours })
})

const invoke = Effect.fnUntraced(function*(invocation: Invocation, host: Host) {
  const piped = yield* readPiped({ hasPrompt: invocation.prompt !== "", wait: Duration.seconds(invocation.stdinWait) })
  if (invocation.prompt === "" && piped.text === "") {
    return yield* usageFailed("nimlet needs a prompt, on the command line or on standard input.")
  }
  const mode = yield* modeOf(invocation, host)
  const output = yield* Output
  return yield* run(invocation, host, mode, { typed: invocation.prompt, piped }).pipe(
    Effect.map((result) => result.success ? 0 : 1),
    Effect.catch((error) =>
      error instanceof UsageError ? usageFailed(error.problem) : Effect.as(output.err(asLines(`nimlet could not start: ${error.message}${remedyOf(error)}`)), 1)
    )
  )
})

/** Runs a command line and gives its exit code: 0 done, 1 failed, 2 wrong usage. */
export const main = Effect.fnUntraced(function*(host: Host) {
  const parsed = parseArgv(host.argv)
  if (Result.isFailure(parsed)) return yield* usageFailed(parsed.failure.problem)
  const output = yield* Output
  switch (parsed.success.kind) {
    case "help":
      return yield* Effect.as(output.out(usage), 0)
    case "version":
      return yield* Effect.as(output.out(`nimlet ${manifest.version}\n`), 0)
    case "run":
      return yield* invoke(parsed.success.invocation, host)
  }
}, Effect.scoped, Effect.provide(Output.layer))
