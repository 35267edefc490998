/**
 * An extension as a worker thread of this process: the same lines as over pipes, carried by a message port. It isolates
 * faults, not malice (seed 004 says as much of its own host).
 *
 * A line goes to the worker as a text, lines that had to wait as one text with newlines between them; single lines come from
 * it. A number on the port says how much of what was sent has been taken. Neither side has more than a window's worth under
 * way, which is all the flow control a port needs.
 */
import { Deferred, Effect, Exit, Fiber, Result, Scope, Stream } from "effect"
// There is no Effect service for a worker with a port of its own, captured output and limits: this file is the edge.
import nodeProcess from "node:process"
import type { MessagePort, Worker } from "node:worker_threads"
import { StartFailed } from "../ExtensionError.ts"
import type { Launch } from "../Launcher.ts"
import type { Transport } from "../Transport.ts"
import { Inbox } from "./Inbox.ts"
import { maxInboundBytes } from "./Lines.ts"
import { writeLog } from "./LogFile.ts"
import { PortOutlet } from "./PortOutlet.ts"

/** UTF-16 units taken that are worth saying so: each word of it would wake a thread. A quarter of what a sender has under way. */
const worthSaying = 256 * 1024
/** After its end, what the worker has written is read for at most this long. */
const drainFor = "250 millis"
/** A port that closes is explained by the end of its thread, and the other way round, within this; else one generation is over. */
const exitFor = "250 millis"
/** How long the end of a thread is waited for: one that sits in a native call cannot be ended, and nobody waits for that. */
const terminateFor = "1 second"

/** A small one keeps what a single collection can move, and the whole thread, small. */
const youngMegabytes = 16

/** What runs in the worker, and within which limits. */
export interface WorkerProgram {
  /** Module of the worker half: it takes `workerData.port` and speaks lines over it. */
  readonly entry: URL
  /** More of `workerData`. */
  readonly data: Readonly<Record<string, unknown>>
  readonly transfer?: ReadonlyArray<MessagePort>
  /**
   * Last limit of its JavaScript heap. Node ends the thread when it can, and the whole process when the heap grows faster than
   * that: whoever wants to be safe looks at it and ends the worker long before.
   */
  readonly heapMegabytes: number
  /** Runs before the thread is ended: it can unblock one that waits for a child process. */
  readonly beforeEnd?: () => void
  /** A connection whose thread is to serve this one too; no new one is started, and `data` is posted to it. */
  readonly joins?: WorkerConnection | undefined
}

/** A running thread with one connection or more; it ends with the last of them. */
interface Shared {
  readonly worker: Worker
  /** Ended with the thread. */
  readonly scope: Scope.Closeable
  readonly gone: Deferred.Deferred<void>
  connections: number
  how: string | undefined
}

/** A worker and its connection. */
export interface WorkerConnection extends Transport {
  readonly worker: Worker
  /** Ends the thread now; `how` is what `closed` says then. Returns at once. */
  readonly end: (how: string) => void
  /** Ends this connection alone, from our side; the thread goes on if it has others. */
  readonly leave: (how: string) => void
  /** @internal What connections of one thread share. */
  readonly shared: Shared
}

/** The first place outside of Node in a stack, as `file.ts:3`. */
const placeIn = (stack: string): string =>
  /\(?(?:file:\/\/)?[^\s()]*?([^\s()/\\]+\.[cm]?[jt]s:\d+):\d+\)?/.exec(stack.replaceAll(/^.*node:internal.*$/gm, ""))?.[1] ?? ""

const deathOf = (error: unknown): string => {
  if (!(error instanceof Error)) return `threw ${String(error)}`
  if ("code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY") return "ran out of memory"
  const place = placeIn(error.stack?.split("\n").slice(1).join("\n") ?? "")
  const [message = ""] = error.message.split("\n")
  return `threw ${error.name}: ${message}${place === "" ? "" : ` (${place})`}`
}

const threads = () => nodeProcess.getBuiltinModule("node:worker_threads")

/** Starts the thread of a launch; nothing is connected to it but `port`. */
const startThread = Effect.fnUntraced(function*(launch: Launch, program: WorkerProgram, port: MessagePort) {
  // Loaded here: programs without such extensions have no use for it.
  const { Worker: Thread } = threads()
  const worker = yield* Effect.try({
    try: () =>
      new Thread(program.entry, {
        name: launch.extension,
        workerData: { ...program.data, port },
        transferList: [port, ...(program.transfer ?? [])],
        env: { ...launch.environment },
        execArgv: [],
        stdin: true,
        stdout: true,
        stderr: true,
        resourceLimits: { maxOldGenerationSizeMb: program.heapMegabytes, maxYoungGenerationSizeMb: youngMegabytes }
      }),
    catch: (error) => new StartFailed({ extension: launch.extension, reason: error instanceof Error ? error.message : String(error) })
  })
  const scope = yield* Scope.make()
  const shared: Shared = { worker, scope, gone: Deferred.makeUnsafe(), connections: 0, how: undefined }
  worker.on("error", (error) => {
    shared.how ??= deathOf(error)
  })
  worker.on("exit", (code) => {
    shared.how ??= `exited with code ${code}`
    Deferred.doneUnsafe(shared.gone, Effect.void)
  })
  const output = (from: AsyncIterable<Uint8Array>) => Stream.fromAsyncIterable(from, () => undefined)
  const logging = yield* Effect.forkIn(
    writeLog(launch.logs, launch.extension, Stream.merge(output(worker.stdout), output(worker.stderr))),
    scope
  )
  // A last traceback is worth a moment.
  yield* Scope.addFinalizer(scope, Effect.timeoutOption(Fiber.await(logging), drainFor))
  return shared
})

const release = ({ beforeEnd }: WorkerProgram, shared: Shared) =>
  Effect.suspend(() => {
    if (--shared.connections > 0) return Effect.void
    beforeEnd?.()
    // A thread that does not end must not hold the process.
    shared.worker.unref()
    return Effect.timeoutOption(Effect.promise(() => shared.worker.terminate()), terminateFor).pipe(
      Effect.andThen(Scope.close(shared.scope, Exit.void))
    )
  })

/** Starts the worker, or joins one, and connects to it; it ends with the scope of its last connection. */
export const openWorkerThread = Effect.fnUntraced(function*(launch: Launch, program: WorkerProgram) {
  const { MessageChannel } = threads()
  const closed = yield* Deferred.make<string>()
  const silent = yield* Deferred.make<void>()
  const over = Deferred.makeUnsafe<void>()
  const { port1: near, port2: far } = new MessageChannel()
  const outlet = new PortOutlet(near, launch.maxLineBytes)
  let left: string | undefined

  /** UTF-16 units of lines that nobody has taken, and of those that somebody has and the peer was not told so. */
  let kept = 0
  let unsaid = 0
  const taken = (units: number): void => {
    unsaid += units
    if (unsaid < worthSaying) return
    near.postMessage(unsaid)
    unsaid = 0
  }
  // What it keeps is bounded by what the peer may have under way.
  const inbox = new Inbox(() => {
    taken(kept)
    kept = 0
  })
  const hear = (message: unknown): void => {
    if (typeof message === "number") return outlet.taken(message)
    if (typeof message !== "string") return
    const line = message.length <= maxInboundBytes ? Result.succeed(message) : Result.fail({ _tag: "LineTooLong" as const, limit: maxInboundBytes })
    if (inbox.push([line])) taken(message.length)
    else kept += message.length
  }
  const finish = (): void => {
    inbox.end()
    Deferred.doneUnsafe(over, Effect.void)
  }
  const open = Effect.gen(function*() {
    const { joins } = program
    if (joins === undefined) return yield* startThread(launch, program, far)
    joins.shared.worker.postMessage({ ...program.data, port: far }, [far, ...(program.transfer ?? [])])
    return joins.shared
  })
  const shared = yield* Effect.acquireRelease(
    Effect.tap(open, (shared) =>
      Effect.sync(() => {
        shared.connections++
      })),
    (shared) =>
      Effect.andThen(
        Effect.andThen(outlet.end, Effect.sync(() => near.close())),
        release(program, shared)
      )
  )
  near.on("message", hear)
  near.on("close", () => Deferred.doneUnsafe(portClosed, Effect.void))
  const portClosed = Deferred.makeUnsafe<void>()
  // The port closes after the last message it brings. Node must not be asked for messages of a closed port: it ends the process.
  const bothGone = Effect.all([Deferred.await(portClosed), Deferred.await(shared.gone)], { concurrency: "unbounded" })
  yield* Effect.raceFirst(Deferred.await(portClosed), Deferred.await(shared.gone)).pipe(
    Effect.andThen(Effect.timeoutOption(bothGone, exitFor)),
    Effect.andThen(Effect.sync(finish)),
    Effect.forkScoped
  )
  yield* Deferred.await(over).pipe(
    Effect.andThen(outlet.end),
    Effect.andThen(Effect.timeoutOption(Deferred.await(silent), drainFor)),
    Effect.andThen(Effect.suspend(() => Deferred.succeed(closed, left ?? shared.how ?? "ended"))),
    Effect.forkScoped
  )

  const connection: WorkerConnection = {
    send: (line) => outlet.send(line),
    inbound: Stream.ensuring(inbox.lines, Deferred.succeed(silent, undefined)),
    endInput: outlet.end,
    closed: Deferred.await(closed),
    worker: shared.worker,
    shared,
    end: (why) => {
      shared.how ??= why
      program.beforeEnd?.()
      // Whoever waits for it reads `closed`.
      void shared.worker.terminate()
    },
    leave: (why) => {
      left ??= why
      finish()
    }
  }
  return connection
})
