/** From the words of a command line to an exit code. Everything a person reads about a failure is written here. */
import { Duration, Effect, FileSystem, Path, Result, type Scope, Stdio } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import manifest from "../package.json" with { type: "json" }
import { type Command, parseArgv, UsageError } from "./Argv.ts"
import { type Invocation, usage } from "./Flags.ts"
import { noPromptInRpc } from "./ExtensionFlags.ts"
import { editText } from "./ExternalEditor.ts"
import { editorOf, type Host, wantsColours } from "./Host.ts"
import type { NearCommand } from "./NearCommand.ts"
import { jsonMode } from "./modes/Json.ts"
import { withLastWords } from "./modes/LastWords.ts"
import type { Mode } from "./modes/Mode.ts"
import { asLines, printMode } from "./modes/Print.ts"
import { makeTextMode, type TextOptions } from "./modes/Text.ts"
import { Output } from "./Output.ts"
import { remedyOf } from "./Remedy.ts"
import { run, type StartupError } from "./Run.ts"
import { mostPiped, nothing, readPiped } from "./StandardInput.ts"
import { readTerminal } from "./TerminalInput.ts"

const usageFailed = Effect.fnUntraced(function*(problem: string) {
  yield* (yield* Output).err(`${problem}\n\n${usage}`)
  return 2
})

const couldNotStart = Effect.fnUntraced(function*(error: StartupError) {
  const remedy = remedyOf(error)
  yield* (yield* Output).err(asLines(`nimlet could not start: ${error.message}${remedy === "" ? "" : `; ${remedy}`}`))
  return 1
})

/** What the person's editor is run with. */
type EditorNeeds = FileSystem.FileSystem | Path.Path | ChildProcessSpawner.ChildProcessSpawner

const modeOf = Effect.fnUntraced(function*(invocation: Invocation, host: Host): Effect.fn.Return<Mode, never, Output | Stdio.Stdio | Scope.Scope | EditorNeeds> {
  const output = yield* Output
  const stdio = yield* Stdio.Stdio
  if (invocation.mode === "json") return withLastWords(jsonMode(output), host.lastWords)
  if (invocation.mode === "rpc") {
    const { makeRpcMode } = yield* Effect.promise(() => import("./modes/Rpc.ts"))
    const path = yield* Path.Path
    const rpc = yield* makeRpcMode({ output, settingsFile: path.join(host.home, ".nimlet", "config.json"), version: manifest.version })
    return withLastWords(rpc, host.lastWords)
  }
  const atTerminal = (yield* stdio.stdinIsTerminal) && (yield* stdio.stdoutIsTerminal)
  if (invocation.mode === "print" || !atTerminal) return printMode(output)
  const needs = yield* Effect.context<EditorNeeds>()
  const command = editorOf(host)
  const { environment, platform } = host
  const edit = (command: string): NonNullable<TextOptions["editor"]> => ({
    command,
    edit: ({ text, title }, lend) => Effect.provideContext(editText({ editor: command, title, text, environment, platform, lend }), needs)
  })
  return yield* makeTextMode({
    output,
    input: yield* readTerminal(host.terminal),
    colours: wantsColours(host),
    editor: command === undefined ? undefined : edit(command)
  })
})

/** Whether a person sits in front who has not said anything yet, at a terminal that can do more than print. */
const isSitting = Effect.fnUntraced(function*(invocation: Invocation, host: Host) {
  const stdio = yield* Stdio.Stdio
  if (invocation.mode !== "text" || (invocation.prompt !== "" && !invocation.stay) || host.environment["TERM"] === "dumb") return false
  return (yield* stdio.stdinIsTerminal) && (yield* stdio.stdoutIsTerminal)
})

const failed = (error: StartupError | UsageError) => error instanceof UsageError ? usageFailed(error.problem) : couldNotStart(error)

/** Tells whoever typed words for a subcommand that they became a prompt. */
const tellNear = Effect.fnUntraced(function*({ files, help }: NearCommand, host: Host) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const there = yield* Effect.forEach(files, (file) => Effect.orElseSucceed(fs.exists(path.resolve(host.cwd, file)), () => false))
  if (there.includes(false)) return
  yield* (yield* Output).err(`nimlet: these words go to the model as a prompt; for the command see \`nimlet ${help} --help\`\n`)
})

const invoke = Effect.fnUntraced(function*({ invocation, near }: Extract<Command, { readonly kind: "run" }>, host: Host) {
  if (yield* isSitting(invocation, host)) {
    if (near !== undefined) yield* tellNear(near, host)
    const { interact } = yield* Effect.promise(() => import("./modes/Interactive.ts"))
    return yield* Effect.catch(interact(invocation, host), failed)
  }
  const rpc = invocation.mode === "rpc"
  // With flags of extensions it is not known yet what a prompt is.
  if (rpc && invocation.prompt !== "" && invocation.foreign.length === 0) return yield* usageFailed(noPromptInRpc)
  const piped = rpc ? nothing : yield* readPiped({ hasPrompt: invocation.prompt !== "", wait: Duration.seconds(invocation.stdinWait) })
  if (piped.excessive) return yield* usageFailed(`standard input has more than ${mostPiped / 1024 / 1024} MiB; name a file for nimlet to read instead.`)
  if (!rpc && invocation.prompt === "" && piped.text === "") {
    return yield* usageFailed("nimlet needs a prompt, on the command line or on standard input.")
  }
  // What is piped in is something to speak about.
  if (near !== undefined && piped.text === "") yield* tellNear(near, host)
  const mode = yield* modeOf(invocation, host)
  return yield* run(invocation, host, mode, { typed: invocation.prompt, piped }).pipe(
    Effect.map((result) => result.success ? 0 : 1),
    Effect.catch(failed)
  )
})

/** What is no run is loaded when it is asked for: a run shall not wait for it. */
const obey = Effect.fnUntraced(function*(command: Exclude<Command, { readonly kind: "run" }>, host: Host) {
  const output = yield* Output
  switch (command.kind) {
    case "version":
      return yield* Effect.as(output.out(`nimlet ${manifest.version}\n`), 0)
    case "help": {
      if (command.subcommand === undefined) return yield* Effect.as(output.out(usage), 0)
      const { tellHelp } = yield* Effect.promise(() => import("./CommandTree.ts"))
      return yield* Effect.orDie(tellHelp(command.subcommand))
    }
    case "completions": {
      const { tellCompletions } = yield* Effect.promise(() => import("./CommandTree.ts"))
      return yield* Effect.orDie(tellCompletions(command.shell))
    }
    case "subcommand": {
      if (command.name === "replay") {
        const { replayFile } = yield* Effect.promise(() => import("./Replay.ts"))
        return yield* replayFile(command.invocation.operands[0] ?? "", host)
      }
      if (command.name === "doctor") {
        const { examine } = yield* Effect.promise(() => import("./Doctor.ts"))
        return yield* examine(command.invocation, host)
      }
      if (command.name === "models list" || command.name === "models refresh") {
        const { listModels, refreshAndTell } = yield* Effect.promise(() => import("./ModelList.ts"))
        return yield* Effect.catch(command.name === "models list" ? listModels(command.invocation, host) : refreshAndTell(host), couldNotStart)
      }
      if (command.name !== "extension list") {
        const { arrangeSessions } = yield* Effect.promise(() => import("./SessionCommands.ts"))
        return yield* Effect.catchTag(arrangeSessions(command.name, command.invocation, host), "UsageError", ({ problem }) => usageFailed(problem))
      }
      const { listExtensions } = yield* Effect.promise(() => import("./ExtensionList.ts"))
      return yield* Effect.catch(listExtensions(command.invocation, host), couldNotStart)
    }
  }
})

/** Runs a command line and gives its exit code: 0 done, 1 failed, 2 wrong usage. */
export const main = (host: Host) =>
  Effect.provide(Effect.scoped(runCommandLine(host)), Output.layer(Effect.promise(() => host.ending), Effect.sync(host.giveUpReader)))

const runCommandLine = Effect.fnUntraced(function*(host: Host) {
  const parsed = parseArgv(host.argv)
  if (Result.isFailure(parsed)) return yield* usageFailed(parsed.failure.problem)
  const command = parsed.success
  return yield* command.kind === "run" ? invoke(command, host) : obey(command, host)
})
