/**
 * A program in a process group of its own. Foreign edge, to Node itself: the platform's `ChildProcess` puts a second stream
 * and a fiber before each pipe, which doubles the time of a round trip, and every hook of every tool call is one.
 */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process"
import { Socket } from "node:net"
import type { Readable, Writable } from "node:stream"
import { Context, Deferred, Effect, Option, type Scope } from "effect"
import type { CommandLine } from "./CommandLine.ts"

/** After SIGTERM the group has this long before SIGKILL. */
const killAfter = "500 millis"
/** A killed process is gone at once; one that the system cannot end is not waited for longer than this. */
const buryFor = "1 second"

/**
 * The groups of extensions that run, by the id of their leader, for a program that must be able to end at once and take
 * them along. The one in force where extensions are started is kept for their life; the default is looked at by nobody.
 */
export const ProcessGroups: Context.Reference<Set<number>> = Context.Reference("@nimlet/extension/ProcessGroups", {
  defaultValue: () => new Set<number>()
})

/** What runs. The streams are in no mode yet; an error of theirs is not an error of ours. */
export interface ProcessGroup {
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** How the program ended: `exited with code 1`, `was ended by SIGKILL`. Others of its group may live on. */
  readonly exited: Effect.Effect<string>
  readonly isRunning: () => boolean
}

/** What the system said when the program did not start; `code` as in `ENOENT`. */
export interface SpawnFailure {
  readonly code: string | undefined
  readonly message: string
}

/** What to start, and where. The environment is the whole one. */
export interface Command extends CommandLine {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

const isWindows = process.platform === "win32"

const failureOf = (error: unknown): SpawnFailure => ({
  code: error instanceof Error && "code" in error ? String(error.code) : undefined,
  message: error instanceof Error ? error.message : String(error)
})

const optionsOf = ({ cwd, env, verbatim }: Command): SpawnOptions => ({
  cwd,
  env,
  stdio: ["pipe", "pipe", "pipe"],
  detached: !isWindows,
  windowsHide: true,
  windowsVerbatimArguments: verbatim
})

const begin = (command: Command) =>
  Effect.callback<ChildProcess, SpawnFailure>((resume) => {
    const fail = (error: unknown) => resume(Effect.fail(failureOf(error)))
    try {
      const child = spawn(command.program, command.args, optionsOf(command))
      child.once("error", fail)
      child.once("spawn", () => {
        child.off("error", fail)
        child.on("error", () => {})
        resume(Effect.succeed(child))
      })
    } catch (error) {
      fail(error)
    }
  })

/**
 * A program's input is a socket of which Node reads nothing, and so learns only from the next write that the program has closed
 * it. Read like any other socket it closes at once; what a program writes there is dropped.
 */
const hearItClose = (input: Writable) => {
  const state: unknown = Reflect.get(input, "_readableState")
  if (isWindows || !(input instanceof Socket) || typeof state !== "object" || state === null) return
  Object.assign(state, { readable: true, ended: false, endEmitted: false })
  input.resume()
}

const hasExited = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

/** Signals the whole group; 0 only looks. False when nobody is left in it. */
const signalGroup = (child: ChildProcess, signal: NodeJS.Signals | 0): boolean => {
  if (child.pid === undefined) return false
  if (isWindows) return !hasExited(child) && (signal === 0 || endTree(child.pid))
  try {
    return process.kill(-child.pid, signal)
  } catch (error) {
    // EPERM: there is somebody, who is not ours or dead already.
    return failureOf(error).code === "EPERM"
  }
}

/** Windows has no groups: a program of the system ends the tree. */
const endTree = (pid: number): boolean => {
  spawn("taskkill", ["/pid", String(pid), "/T", "/F"], { windowsHide: true, stdio: "ignore" }).on("error", () => {})
  return true
}

/** Completes when nobody is left in the group; to be asked once its leader has exited. */
const emptied = (child: ChildProcess): Effect.Effect<void> =>
  Effect.suspend(() => signalGroup(child, 0) ? Effect.andThen(Effect.sleep(10), emptied(child)) : Effect.void)

const end = Effect.fnUntraced(function*(child: ChildProcess, exited: Effect.Effect<unknown>) {
  if (signalGroup(child, "SIGTERM")) {
    const gone = yield* Effect.timeoutOption(Effect.andThen(exited, emptied(child)), killAfter)
    if (Option.isNone(gone)) signalGroup(child, "SIGKILL")
  }
  yield* Effect.timeoutOption(exited, buryFor)
  // One that has left the group may hold the pipes, and one that cannot be killed is no reason to stay.
  for (const pipe of child.stdio) pipe?.destroy()
  child.unref()
})

/** Starts the program; when the scope closes, its whole group is ended: SIGTERM, 0.5 s, SIGKILL. */
export const startProcessGroup = Effect.fnUntraced(function*(
  command: Command
): Effect.fn.Return<ProcessGroup, SpawnFailure, Scope.Scope> {
  const exit = yield* Deferred.make<string>()
  const groups = yield* ProcessGroups
  const child = yield* Effect.acquireRelease(
    Effect.tap(begin(command), (started) =>
      Effect.sync(() => {
        if (started.pid !== undefined) groups.add(started.pid)
        started.once("exit", (code, signal) =>
          Deferred.doneUnsafe(exit, Effect.succeed(code === null ? `was ended by ${signal}` : `exited with code ${code}`)))
      })),
    (started) =>
      Effect.ensuring(end(started, Deferred.await(exit)), Effect.sync(() => started.pid === undefined ? false : groups.delete(started.pid)))
  )
  const { pid, stderr, stdin, stdout } = child
  if (pid === undefined || stdin === null || stdout === null || stderr === null) {
    return yield* Effect.fail(failureOf("its pipes could not be opened"))
  }
  for (const stream of [stdin, stdout, stderr]) stream.on("error", () => {})
  hearItClose(stdin)
  return { pid, stdin, stdout, stderr, exited: Deferred.await(exit), isRunning: () => !hasExited(child) }
})
