/** Processes of this machine, each in its own group. */
import { Cause, Context, type Duration, Effect, Exit, Fiber, FileSystem, Path, PlatformError, Random, Scope, Stream } from "effect"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type { ChildProcessHandle } from "effect/process/ChildProcessSpawner"
import { uptime } from "node:os"
import nodeProcess from "node:process"
import { ProcessFailed } from "../OperationError.ts"
import type { LeftProcess, ProcessExit, Processes, ProcessRequest } from "../Operations.ts"
import { makeFindProcesses } from "./ProcessTable.ts"
import type { FindProcesses, ProcessQuery } from "./ProcessTable.ts"

/** Between TERM and KILL. */
const KILL_AFTER = "200 millis"
/** By then TERM and KILL are out. The spawner looks on for a second where nobody reaps the dead; nobody has to wait for that. */
const CLOSE_WAIT = "300 millis"
/** To look for what left its group and end it. It takes a quarter of a second where the machine has time. */
const SEARCH_WAIT = "3 seconds"
/** After a program ended, its output is waited for until it is quiet for so long; what it left running may hold it open. */
const QUIET_MILLIS = 50
/** Rounds of `QUIET_MILLIS` at most, while something it left running goes on printing. What the program itself printed is long there. */
const DRAIN_ROUNDS = 8
/** An entry of the environment that tells whose process one is, also when it leaves its group. */
const MARK = "NIMLET_TOOL_CALL"

/**
 * Beginnings of environment entries that tell which processes are those of calls under way or in the background, whatever group they
 * are in, for a program that must be able to end at once and take them along. The default is looked at by nobody.
 */
export const ProcessMarks: Context.Reference<Set<string>> = Context.Reference("@nimlet/tools/ProcessMarks", {
  defaultValue: () => new Set<string>()
})

const signalNumbers: { readonly [name: string]: number } = {
  SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGILL: 4, SIGTRAP: 5, SIGABRT: 6, SIGFPE: 8, SIGKILL: 9, SIGSEGV: 11, SIGPIPE: 13, SIGALRM: 14, SIGTERM: 15
}

/** A shell's way to name a death by signal. The spawner tells the signal only in its error's text. */
const codeOfSignal = (error: PlatformError.PlatformError): number | undefined => {
  const signal = /signal: '(SIG[A-Z0-9]+)'/.exec(String(error.cause))?.[1]
  return signal === undefined ? undefined : 128 + (signalNumbers[signal] ?? 0)
}

/** Whether a process of the group lives. The spawner has no such question, so this is the one place that asks the system itself. */
const isGroupAlive = (group: number): boolean => {
  try {
    nodeProcess.kill(-group, 0)
    return true
  } catch {
    return false
  }
}

/** Ends something without waiting longer than it may take. */
const within = (limit: Duration.Input, self: Effect.Effect<unknown>): Effect.Effect<void> =>
  self.pipe(Effect.forkDetach, Effect.flatMap(Fiber.await), Effect.timeoutOption(limit), Effect.asVoid)

const signal = (pid: number, name: "SIGTERM" | "SIGKILL"): void => {
  try {
    nodeProcess.kill(pid, name)
  } catch {
    // It has ended by itself.
  }
}

/** Ends what carries a mark, whatever group it is in: TERM, a moment, KILL. Does not wait for the very end of it. */
const endMarked = Effect.fnUntraced(function*(find: FindProcesses, query: ProcessQuery) {
  const found = (yield* find(query)) ?? []
  for (const { pid } of found) signal(pid, "SIGTERM")
  if (found.length === 0) return
  yield* Effect.sleep(KILL_AFTER)
  for (const { pid } of (yield* find(query)) ?? []) signal(pid, "SIGKILL")
})

/** A program whose end is known and of which something lives on. */
interface Background {
  readonly group: number
  readonly query: ProcessQuery
  readonly scope: Scope.Closeable
}

/** A program at its end. `alive` tells whether anything of it lives on. */
interface Ended extends Omit<Background, "scope"> {
  readonly code: number
  readonly left: ReadonlyArray<LeftProcess>
  readonly alive: boolean
}

/** Processes with working folder `root`; whatever is left of them ends with the scope. */
export const makeLocalProcesses = Effect.fnUntraced(function*(
  root: string
): Effect.fn.Return<Processes, never, ChildProcessSpawner | FileSystem.FileSystem | Path.Path | Scope.Scope> {
  const path = yield* Path.Path
  const spawner = yield* ChildProcessSpawner
  const find = makeFindProcesses(yield* FileSystem.FileSystem, nodeProcess.pid, uptime)
  const session = (yield* Random.nextBetween(0, 2 ** 52)).toString(36)
  const ofSession = `${MARK}=${session}-`
  const marks = yield* ProcessMarks
  const background = new Set<Background>()
  let calls = 0
  /** Whether anything was seen that is in no group of ours. */
  let escaped = false

  const failed = (command: string) => (error: PlatformError.PlatformError) =>
    new ProcessFailed({ command, reason: error.message, missing: error.reason._tag === "NotFound" && error.reason.module === "ChildProcess" })

  const exitCode = (handle: ChildProcessHandle) =>
    handle.exitCode.pipe(
      Effect.map(Number),
      Effect.catch((error) => {
        const code = codeOfSignal(error)
        return code === undefined ? Effect.fail(error) : Effect.succeed(code)
      })
    )

  const spawn = (request: ProcessRequest, mark: string | undefined) => {
    const marked = mark === undefined ? {} : { [MARK]: mark }
    return spawner.spawn(ChildProcess.make(request.command, request.args, {
      cwd: path.resolve(root, request.cwd ?? "."),
      ...(request.env === undefined && mark === undefined ? {} : {
        env: { ...request.env, ...marked },
        extendEnv: request.env === undefined || (request.extendEnv ?? false)
      }),
      stdin: "ignore",
      killSignal: "SIGTERM",
      forceKillAfter: KILL_AFTER
    })).pipe(
      // Node throws what is wrong with the arguments as a whole, such as too much of them.
      Effect.catchDefect((cause) =>
        Effect.fail(PlatformError.systemError({ _tag: "Unknown", module: "ChildProcess", method: "spawn", description: String(cause), cause }))
      )
    )
  }

  /** Runs to the program's end; its readers go on in `scope`, throwing away what comes after that. */
  const runIn = Effect.fnUntraced(function*(request: ProcessRequest, mark: string | undefined, scope: Scope.Closeable) {
    const born = uptime()
    const handle = yield* spawn(request, mark).pipe(Scope.provide(scope))
    let ended = false
    let busy = 0
    let seen = 0
    const read = (name: "stdout" | "stderr") =>
      Stream.runForEach(handle[name], (chunk) => {
        if (ended) return Effect.void
        seen++
        busy++
        return request.onOutput(name, chunk).pipe(Effect.ensuring(Effect.sync(() => { busy-- })))
      }).pipe(Effect.ignore, Effect.forkIn(scope))
    const readers = Fiber.joinAll([yield* read("stdout"), yield* read("stderr")])
    const code = yield* exitCode(handle)
    for (let round = 0, quiet = 0; round < DRAIN_ROUNDS && quiet < 2; round++) {
      const before = seen
      const drained = yield* Effect.timeoutOption(readers, QUIET_MILLIS)
      if (drained._tag === "Some") break
      // One quiet round may be a busy loop of ours, whose timer came before it looked at the pipe; between two it has looked.
      quiet = before === seen && busy === 0 ? quiet + 1 : 0
    }
    ended = true
    const group = handle.pid
    const query: ProcessQuery = { mark: `${MARK}=${mark ?? session}\0`, group, after: { pid: group, uptime: born }, folder: root }
    const found = mark === undefined ? undefined : yield* find(query)
    const left = (found ?? []).map((process): LeftProcess => ({
      pid: process.pid,
      command: process.command,
      escaped: process.group !== group,
      ...(process.isOrphan ? { outlives: true as const } : {})
    }))
    // Dead members that nobody reaped keep a group alive for the system.
    return { code, query, group, left, alive: found === undefined ? isGroupAlive(group) : found.some(({ isOrphan }) => !isOrphan) }
  })

  const reap = Effect.suspend(() =>
    Effect.forEach([...background], (left) =>
      Effect.flatMap(find(left.query), (found) => {
        if (found === undefined ? isGroupAlive(left.group) : found.some(({ isOrphan }) => !isOrphan)) return Effect.void
        background.delete(left)
        return within(CLOSE_WAIT, Scope.close(left.scope, Exit.void))
      }), { discard: true })
  )
  yield* Effect.addFinalizer(() =>
    Effect.all([
      ...[...background].map(({ scope }) => within(CLOSE_WAIT, Scope.close(scope, Exit.void))),
      ...(background.size > 0 || escaped ? [within(SEARCH_WAIT, endMarked(find, { mark: ofSession }))] : [])
    ], { concurrency: "unbounded", discard: true }).pipe(Effect.ensuring(Effect.sync(() => marks.delete(ofSession))))
  )

  const settle = Effect.fnUntraced(function*({ alive, code, group, left, query }: Ended, scope: Scope.Closeable): Effect.fn.Return<ProcessExit> {
    if (left.some((process) => process.escaped && process.outlives !== true)) escaped = true
    if (code === 0 && alive) {
      background.add({ group, query, scope })
      return { code, background: true, left }
    }
    yield* within(CLOSE_WAIT, Scope.close(scope, Exit.void))
    // The spawner itself ends the group of a program that failed, but not what left the group.
    const outside = left.filter((process) => process.escaped)
    return { code, background: outside.length > 0, left: outside }
  })

  const run: Processes["run"] = (request) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const mark = request.track === true ? `${session}-${++calls}` : undefined
        if (mark !== undefined) {
          marks.add(ofSession)
          yield* reap
        }
        const scope = yield* Scope.make()
        const exit = yield* Effect.exit(restore(runIn(request, mark, scope)))
        if (Exit.isSuccess(exit)) return yield* settle(exit.value, scope)
        yield* Effect.all([
          within(CLOSE_WAIT, Scope.close(scope, exit)),
          ...(mark === undefined || !Cause.hasInterrupts(exit.cause) ? [] : [within(SEARCH_WAIT, endMarked(find, { mark: `${MARK}=${mark}\0` }))])
        ], { concurrency: "unbounded", discard: true })
        return yield* Effect.failCause(exit.cause)
      })
    ).pipe(Effect.mapError(failed(request.command)))

  return { run }
})
