/**
 * An extension as a worker thread of this process: the same lines as over pipes, carried by a message port. It isolates
 * faults, not malice (seed 004 says as much of its own host).
 *
 * Texts of whole lines go to the worker, single lines come from it; a number on the port says how much of what was sent has
 * been taken. Neither side has more than a window's worth under way, which is all the flow control a port needs.
 */
import { Deferred, Effect, Fiber, Latch, Queue, Result, Stream } from "effect"
import type { Cause } from "effect"
// There is no Effect service for a worker with a port of its own, captured output and limits: this file is the edge.
import nodeProcess from "node:process"
import type { MessagePort, Worker } from "node:worker_threads"
import { StartFailed } from "../ExtensionError.ts"
import type { Launch } from "../Launcher.ts"
import type { Transport } from "../Transport.ts"
import { type Line, maxInboundBytes } from "./Lines.ts"
import { writeLog } from "./LogFile.ts"
import { Outbox } from "./Outbox.ts"

/** UTF-16 units under way before the sender waits. */
const window = 1024 * 1024
/** What has been taken is said when it comes to this much: each word of it would wake a thread. */
const worthSaying = window / 4
/** After its end, what the worker has written is read for at most this long. */
const drainFor = "250 millis"
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
}

/** A worker and its connection. */
export interface WorkerConnection extends Transport {
  readonly worker: Worker
  /** Ends it now; `how` is what `closed` says then. Returns at once. */
  readonly end: (how: string) => void
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

/** Starts the worker and connects to it; it ends with the scope. */
export const openWorkerThread = Effect.fnUntraced(function*(launch: Launch, program: WorkerProgram) {
  // Loaded here: programs without such extensions have no use for it.
  const { MessageChannel, receiveMessageOnPort, Worker: Thread } = nodeProcess.getBuiltinModule("node:worker_threads")
  const outbox = yield* Outbox.make(launch.maxLineBytes)
  // Unbounded, but the peer never has more than its window under way.
  const inbox = yield* Queue.unbounded<Line, Cause.Done>()
  const closed = yield* Deferred.make<string>()
  const silent = yield* Deferred.make<void>()
  const room = yield* Latch.make(true)
  const { port1: near, port2: far } = new MessageChannel()
  let underWay = 0
  let how: string | undefined

  const start = Effect.try({
    try: () =>
      new Thread(program.entry, {
        name: launch.extension,
        workerData: { ...program.data, port: far },
        transferList: [far, ...(program.transfer ?? [])],
        env: { ...launch.environment },
        execArgv: [],
        stdin: true,
        stdout: true,
        stderr: true,
        resourceLimits: { maxOldGenerationSizeMb: program.heapMegabytes, maxYoungGenerationSizeMb: youngMegabytes }
      }),
    catch: (error) => new StartFailed({ extension: launch.extension, reason: error instanceof Error ? error.message : String(error) })
  })
  const worker = yield* Effect.acquireRelease(start, (worker) =>
    Effect.sync(() => {
      program.beforeEnd?.()
      // A thread that does not end must not hold the process.
      worker.unref()
      near.close()
    }).pipe(Effect.andThen(Effect.timeoutOption(Effect.promise(() => worker.terminate()), terminateFor))))

  const hear = (message: unknown): void => {
    if (typeof message === "number") {
      underWay -= message
      if (underWay < window) room.openUnsafe()
    } else if (typeof message === "string") {
      if (message.length <= maxInboundBytes) return void Queue.offerUnsafe(inbox, Result.succeed(message))
      near.postMessage(message.length)
      Queue.offerUnsafe(inbox, Result.fail({ _tag: "LineTooLong", limit: maxInboundBytes }))
    }
  }
  near.on("message", hear)
  worker.on("error", (error) => {
    how ??= deathOf(error)
  })
  worker.on("exit", (code) => {
    for (let last = receiveMessageOnPort(near); last !== undefined; last = receiveMessageOnPort(near)) hear(last.message)
    how ??= `exited with code ${code}`
    Queue.endUnsafe(inbox)
    Deferred.doneUnsafe(gone, Effect.void)
  })
  const gone = Deferred.makeUnsafe<void>()
  yield* Deferred.await(gone).pipe(
    Effect.andThen(outbox.end),
    Effect.andThen(Effect.timeoutOption(Deferred.await(silent), drainFor)),
    Effect.andThen(Effect.suspend(() => Deferred.succeed(closed, how ?? "ended"))),
    Effect.forkScoped
  )

  const decoder = new TextDecoder()
  const post = (bytes: Uint8Array) =>
    Effect.sync(() => {
      // A text crosses in half the time of an array.
      const text = decoder.decode(bytes)
      underWay += text.length
      if (underWay >= window) room.closeUnsafe()
      near.postMessage(text)
    })
  yield* room.await.pipe(
    Effect.andThen(outbox.take),
    Effect.flatMap(post),
    Effect.forever,
    // `null` is the end of input.
    Effect.ensuring(Effect.sync(() => near.postMessage(null))),
    Effect.ignore,
    Effect.forkScoped
  )
  const output = (from: AsyncIterable<Uint8Array>) => Stream.fromAsyncIterable(from, () => undefined)
  const logging = yield* Effect.forkScoped(
    writeLog(launch.logs, launch.extension, Stream.merge(output(worker.stdout), output(worker.stderr)))
  )
  yield* Effect.addFinalizer(() =>
    Effect.flatMap(Deferred.isDone(closed), (over) =>
      over ? Effect.asVoid(Effect.timeoutOption(Fiber.await(logging), drainFor)) : Effect.void))

  let unsaid = 0
  const taken = (lines: ReadonlyArray<Line>) => {
    for (const line of lines) unsaid += Result.isSuccess(line) ? line.success.length : 0
    if (unsaid < worthSaying) return
    near.postMessage(unsaid)
    unsaid = 0
  }
  const connection: WorkerConnection = {
    send: (line) => outbox.send(line),
    inbound: Stream.fromQueue(inbox).pipe(
      Stream.mapArray((lines) => {
        taken(lines)
        return lines
      }),
      Stream.ensuring(Deferred.succeed(silent, undefined))
    ),
    endInput: outbox.end,
    closed: Deferred.await(closed),
    worker,
    end: (why) => {
      how ??= why
      program.beforeEnd?.()
      // Whoever waits for it reads `closed`.
      void worker.terminate()
    }
  }
  return connection
})
