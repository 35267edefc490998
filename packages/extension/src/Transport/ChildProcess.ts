/**
 * An extension as a child process in a group of its own (seed 000, "Transport and handshake"). Nothing else
 * holds its pipes, so it reads end-of-file when the host dies.
 */
import { Context, Deferred, Effect, Fiber, FileSystem, Layer, Path, type PlatformError, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { programOf } from "../Command.ts"
import { StartFailed } from "../ExtensionError.ts"
import { type Launch, Launcher } from "../Launcher.ts"
import type { Transport } from "../Transport.ts"
import { LineDecoder } from "./Lines.ts"
import { writeLog } from "./LogFile.ts"
import { Outbox } from "./Outbox.ts"

/** After SIGTERM the group has this long before SIGKILL. */
const killAfter = "500 millis"
/** After an exit, what the process has written is read for at most this long; a grandchild may hold the pipe open. */
const drainFor = "250 millis"
/** After a broken pipe, an exit that explains it comes within this. */
const settleFor = "50 millis"

const startFailure = (launch: Launch, program: string) => (error: PlatformError.PlatformError) => {
  const why = error.reason._tag === "NotFound"
    ? `cannot find ${program} (or the workspace)`
    : error.reason._tag === "PermissionDenied"
    ? `${program} is not executable; try chmod +x`
    : error.message
  return new StartFailed({ extension: launch.extension, reason: why })
}

const signalIn = (error: PlatformError.PlatformError): string =>
  /SIG[A-Z0-9]+/.exec(`${error.message} ${String(error.cause)}`)?.[0] ?? "a signal"

/** Starts the program and connects to it; its process group ends with the scope: SIGTERM, 0.5 s, SIGKILL. */
export const openChildProcess = Effect.fnUntraced(function*(launch: Launch) {
  const path = yield* Path.Path
  const { args, named, program, shell } = programOf(launch.command, {
    folder: launch.folder,
    windows: path.sep === "\\",
    resolve: path.resolve
  })
  const child = yield* ChildProcess.make(program, args, {
    shell,
    cwd: launch.workspace,
    env: launch.environment,
    extendEnv: false,
    detached: true,
    killSignal: "SIGTERM",
    forceKillAfter: killAfter
  }).pipe(Effect.mapError(startFailure(launch, named)))

  const outbox = yield* Outbox.make(launch.maxLineBytes)
  const closed = yield* Deferred.make<string>()
  const silent = yield* Deferred.make<void>()

  const writing = Stream.fromPull(Effect.succeed(Effect.map(outbox.take, (bytes) => [bytes] as const)))
  yield* Stream.run(writing, child.stdin).pipe(
    // A process that ends also breaks the pipe: how it ended says more.
    Effect.catch(() =>
      Effect.andThen(
        Effect.sleep(settleFor),
        Effect.flatMap(child.isRunning, (running) =>
          running ? Deferred.succeed(closed, "closed its input") : Effect.succeed(false))
      )
    ),
    Effect.ensuring(outbox.end),
    Effect.forkScoped
  )

  const logging = yield* Effect.forkScoped(writeLog(launch.logs, launch.extension, child.stderr))
  // A last traceback is worth a moment: this runs before the log's fiber is interrupted.
  yield* Effect.addFinalizer(() =>
    Effect.flatMap(Deferred.isDone(closed), (gone) =>
      gone ? Effect.asVoid(Effect.timeoutOption(Fiber.await(logging), drainFor)) : Effect.void)
  )

  const exited = Effect.match(child.exitCode, {
    onFailure: (error) => `was ended by ${signalIn(error)}`,
    onSuccess: (code) => `exited with code ${code}`
  })
  yield* exited.pipe(
    Effect.tap(() => Effect.timeoutOption(Deferred.await(silent), drainFor)),
    Effect.flatMap((how) => Deferred.succeed(closed, how)),
    Effect.forkScoped
  )

  const inbound = child.stdout.pipe(
    Stream.mapAccum(() => new LineDecoder(), (decoder: LineDecoder, chunk) => [decoder, decoder.push(chunk)] as const, {
      onHalt: (decoder) => decoder.end()
    }),
    Stream.catchCause(() => Stream.empty),
    Stream.ensuring(Deferred.succeed(silent, undefined))
  )
  const transport: Transport = {
    send: (line) => outbox.send(line),
    inbound,
    endInput: outbox.end,
    closed: Deferred.await(closed),
    pid: child.pid
  }
  return transport
})

/** Launches extensions as child processes. */
export const layerChildProcess: Layer.Layer<
  Launcher,
  never,
  ChildProcessSpawner.ChildProcessSpawner | FileSystem.FileSystem | Path.Path
> = Layer.effect(
  Launcher,
  Effect.gen(function*() {
    const services = Context.pick(ChildProcessSpawner.ChildProcessSpawner, FileSystem.FileSystem, Path.Path)(
      yield* Effect.context<ChildProcessSpawner.ChildProcessSpawner | FileSystem.FileSystem | Path.Path>()
    )
    return { open: (launch) => Effect.provideContext(openChildProcess(launch), services) }
  })
)
