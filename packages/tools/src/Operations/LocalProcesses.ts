/** Processes of this machine, each in its own group. */
import { Effect, Exit, Fiber, Path, Scope, Stream } from "effect"
import type { PlatformError } from "effect"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type { ChildProcessHandle } from "effect/process/ChildProcessSpawner"
import nodeProcess from "node:process"
import { ProcessFailed } from "../OperationError.ts"
import type { ProcessExit, Processes, ProcessRequest } from "../Operations.ts"

/** Between TERM and KILL. */
const KILL_AFTER = "200 millis"
/** By then TERM and KILL are out. The spawner looks on for a second where nobody reaps the dead; nobody has to wait for that. */
const CLOSE_WAIT = "300 millis"
/** After a program ended, its output is waited for until it is quiet for so long; a background process may hold it open. */
const QUIET_MILLIS = 50
/** Rounds of `QUIET_MILLIS` at most, while something it left running goes on printing. */
const DRAIN_ROUNDS_BACKGROUND = 6
/** The same when nothing of its group is left; only a process that left the group can make this run out. */
const DRAIN_ROUNDS = 100

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

/** Ends what is left of a program's group. */
const close = (scope: Scope.Closeable, exit: Exit.Exit<unknown, unknown>) =>
  Scope.close(scope, exit).pipe(Effect.forkDetach, Effect.flatMap(Fiber.await), Effect.timeoutOption(CLOSE_WAIT), Effect.asVoid)

/** A program whose end is known and whose group lives on. */
interface Background {
  readonly group: number
  readonly scope: Scope.Closeable
}

/** Processes with working folder `root`; whatever is left of them ends with the scope. */
export const makeLocalProcesses = Effect.fnUntraced(function*(
  root: string
): Effect.fn.Return<Processes, never, ChildProcessSpawner | Path.Path | Scope.Scope> {
  const path = yield* Path.Path
  const spawner = yield* ChildProcessSpawner
  const background = new Set<Background>()

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

  /** Runs to the program's end; its readers go on in `scope`, throwing away what comes after that. */
  const runIn = Effect.fnUntraced(function*(request: ProcessRequest, scope: Scope.Closeable) {
    const handle = yield* spawner.spawn(ChildProcess.make(request.command, request.args, {
      cwd: path.resolve(root, request.cwd ?? "."),
      ...(request.env === undefined ? {} : { env: request.env, extendEnv: request.extendEnv ?? false }),
      stdin: "ignore",
      killSignal: "SIGTERM",
      forceKillAfter: KILL_AFTER
    })).pipe(Scope.provide(scope))
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
    let alive = isGroupAlive(handle.pid)
    for (let round = 0; round < (alive ? DRAIN_ROUNDS_BACKGROUND : DRAIN_ROUNDS); round++) {
      const before = seen
      const drained = yield* Effect.timeoutOption(readers, QUIET_MILLIS)
      if (drained._tag === "Some" || (before === seen && busy === 0)) break
      alive = isGroupAlive(handle.pid)
    }
    ended = true
    return { code, group: handle.pid }
  })

  const reap = Effect.suspend(() =>
    Effect.forEach([...background], (left) => {
      if (isGroupAlive(left.group)) return Effect.void
      background.delete(left)
      return close(left.scope, Exit.void)
    }, { discard: true })
  )
  yield* Effect.addFinalizer(() =>
    Effect.forEach([...background], (left) => close(left.scope, Exit.void), { concurrency: "unbounded", discard: true })
  )

  const run: Processes["run"] = (request) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        yield* reap
        const scope = yield* Scope.make()
        const exit = yield* Effect.exit(restore(runIn(request, scope)))
        // The spawner itself ends the group of a program that failed.
        if (Exit.isSuccess(exit) && exit.value.code === 0 && isGroupAlive(exit.value.group)) {
          background.add({ group: exit.value.group, scope })
          return { code: exit.value.code, background: true } satisfies ProcessExit
        }
        yield* close(scope, exit)
        return yield* Exit.map(exit, ({ code }): ProcessExit => ({ code, background: false }))
      })
    ).pipe(Effect.mapError(failed(request.command)))

  return { run }
})
