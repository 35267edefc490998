/**
 * An extension as a child process in a group of its own (seed 000, "Transport and handshake"). Nothing else
 * holds its pipes, so it reads end-of-file when the host dies.
 */
import { Context, Deferred, Effect, Fiber, FileSystem, Layer, Option, Path, type Scope, Stream } from "effect"
import { StartFailed } from "../ExtensionError.ts"
import { type Launch, Launcher } from "../Launcher.ts"
import type { Transport } from "../Transport.ts"
import { commandLine, otherSpelling } from "./CommandLine.ts"
import { Inbox } from "./Inbox.ts"
import { LineDecoder } from "./Lines.ts"
import { writeLog } from "./LogFile.ts"
import { outlet } from "./Outlet.ts"
import { type ProcessGroup, type SpawnFailure, startProcessGroup } from "./ProcessGroup.ts"
import { isPath, whyNotStarted } from "./WhyNotStarted.ts"

/** After an exit, what the process has written is read for at most this long; a grandchild may hold the pipe open. */
const drainFor = "250 millis"
/** After its input has closed, an exit that explains it comes within this. */
const settleFor = "200 millis"
/** After a chunk of this size others get their turn: a peer that pours could keep us reading. */
const turnBytes = 16 * 1024

/**
 * Gives a chunk's memory back now. The collector would let a peer that writes one endless line fill 64 MB first: it waits until
 * there is that much outside of its heap.
 */
const release = (chunk: Uint8Array<ArrayBufferLike>) => {
  const { buffer } = chunk
  if (buffer instanceof ArrayBuffer && buffer.byteLength === chunk.byteLength) buffer.transfer(0)
}

/** Says why, with a look at what is there. */
const explain = Effect.fnUntraced(function*(launch: Launch, program: string, { code, message }: SpawnFailure) {
  const fs = yield* FileSystem.FileSystem
  const kind = isPath(program) ? yield* Effect.option(fs.stat(program)) : Option.none()
  return whyNotStarted({
    program,
    workspace: launch.workspace,
    workspaceExists: yield* Effect.orElseSucceed(fs.exists(launch.workspace), () => false),
    exists: Option.isSome(kind),
    isFolder: Option.isSome(kind) && kind.value.type === "Directory",
    code,
    message
  })
})

/** Starts the program, under its other name where it has one and is not found. */
const start = Effect.fnUntraced(function*(
  launch: Launch,
  command: Launch["command"]
): Effect.fn.Return<ProcessGroup, StartFailed, FileSystem.FileSystem | Scope.Scope> {
  const failed = (reason: string) => new StartFailed({ extension: launch.extension, reason })
  const line = commandLine(command, { platform: process.platform, folder: launch.folder })
  if (typeof line === "string") return yield* failed(line)
  return yield* startProcessGroup({ ...line, cwd: launch.workspace, env: launch.environment }).pipe(
    Effect.catch((failure) => {
      const other = failure.code === "ENOENT" ? otherSpelling(command, process.platform) : undefined
      return other === undefined
        ? Effect.flatMap(explain(launch, line.program, failure), (reason) => Effect.fail(failed(reason)))
        : start(launch, other)
    })
  )
})

/** Starts the program and connects to it; its process group ends with the scope: SIGTERM, 0.5 s, SIGKILL. */
export const openChildProcess = Effect.fnUntraced(function*(launch: Launch) {
  const { exited, isRunning, pid, stderr, stdin, stdout } = yield* start(launch, launch.command)
  const closed = yield* Deferred.make<string>()
  const silent = yield* Deferred.make<void>()

  const outbox = outlet(stdin, launch.maxLineBytes)
  // A process that ends also closes its input: how it ended says more.
  yield* outbox.broken.pipe(
    Effect.andThen(Effect.sleep(settleFor)),
    Effect.andThen(Effect.suspend(() => isRunning() ? Deferred.succeed(closed, "closed its input") : Effect.void)),
    Effect.forkScoped
  )

  const noise = Stream.fromAsyncIterable<Uint8Array, unknown>(stderr, (error) => error)
  const logging = yield* Effect.forkScoped(writeLog(launch.logs, launch.extension, noise))
  // A last traceback is worth a moment: this runs before the log's fiber is interrupted.
  yield* Effect.addFinalizer(() =>
    Effect.flatMap(Deferred.isDone(closed), (gone) =>
      gone ? Effect.asVoid(Effect.timeoutOption(Fiber.await(logging), drainFor)) : Effect.void)
  )

  yield* exited.pipe(
    Effect.tap(() => Effect.timeoutOption(Deferred.await(silent), drainFor)),
    Effect.flatMap((how) => Deferred.succeed(closed, how)),
    Effect.forkScoped
  )

  const decoder = new LineDecoder()
  const inbox = new Inbox(() => stdout.resume())
  const quiet = () => {
    inbox.push(decoder.end())
    inbox.end()
    Deferred.doneUnsafe(silent, Effect.void)
  }
  stdout.on("data", (chunk: Uint8Array) => {
    const keepsUp = inbox.push(decoder.push(chunk))
    if (decoder.isSkipping) release(chunk)
    if (keepsUp && chunk.length < turnBytes) return
    stdout.pause()
    if (keepsUp) setImmediate(() => stdout.resume())
  })
  stdout.once("close", quiet)

  const transport: Transport = {
    send: outbox.send,
    inbound: inbox.lines,
    endInput: outbox.end,
    closed: Deferred.await(closed),
    unfinished: () => decoder.isUnfinished,
    pid
  }
  return transport
})

/** Launches extensions as child processes. */
export const layerChildProcess: Layer.Layer<Launcher, never, FileSystem.FileSystem | Path.Path> = Layer.effect(
  Launcher,
  Effect.gen(function*() {
    const services = Context.pick(FileSystem.FileSystem, Path.Path)(
      yield* Effect.context<FileSystem.FileSystem | Path.Path>()
    )
    return { open: (launch) => Effect.provideContext(openChildProcess(launch), services) }
  })
)
