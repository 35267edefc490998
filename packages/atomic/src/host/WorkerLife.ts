/** One life of an extension on a thread: what its worker needs of the host beside the lines of the protocol. */
import { type Cause, Deferred, Effect, Fiber, type FileSystem, Path, Queue, Schema, type Scope, Stream } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import { type JsonObject, ScreenAspect, SessionCall } from "@nimlet/protocol"
import { AtomicSession, type Companion, Diagnostics, type HostRequestFailed, type Launch, logNameOf, openWorkerThread, type StartFailed, type Transport, type WorkerConnection } from "@nimlet/extension"
import { ripgrepPrograms } from "@nimlet/tools"
import { Descendants } from "./Descendants.ts"
import { exec } from "./Exec.ts"
import { FileLeases } from "./FileLeases.ts"
import { StateFeed } from "./StateFeed.ts"
import { openSyncAnswers } from "./SyncAnswers.ts"
import type { Transpiler } from "./Transpile.ts"
import { Pulse, pulseBytes } from "../worker/Pulse.ts"

/** After `cancel` the event loop of a worker has this long to turn; one that does not is ended. */
const cancelGrace = "2 seconds"
/** How often the memory of a worker is looked at while it works, and while it does not. */
const memoryEvery = { busy: 100, idle: 500 }
/** Above the limit we hold it to, so that Node's own way of ending a thread, which may end the process, is not needed. */
const headroomMegabytes = 2_048
/** Calls of one worker that nobody waits for and that are not done yet; policy `reject`: more are dropped with a warning. */
const maxTold = 1_024
/** After its end, what a worker has told is done for at most this long. */
const lastWords = "1 second"
/** Host requests of one worker that are served at once. */
const servedAtOnce = 16

/** A worker over all its connections. */
interface Thread {
  readonly connection: WorkerConnection
  readonly pulse: Pulse
  readonly pulseBuffer: SharedArrayBuffer
  readonly descendants: Descendants
}

/** What lives share. */
export interface WorkerHost {
  readonly entry: URL
  readonly aliases: Readonly<Record<string, string>>
  readonly transpiler: Transpiler
  /** Key → where its bus messages go, of those that run now. */
  readonly bus: Map<string, (line: string) => Effect.Effect<unknown>>
  /** Key → thread of one that holds objects which outlast a reload. */
  readonly holders: Map<string, Thread>
  /** Key of an object → the extension that asked for it first. */
  readonly scoped: Map<string, string>
  /** Key → lives so far. */
  readonly lives: Map<string, number>
  readonly heapMegabytes: number
  /** Limit of what lies outside the heap. */
  readonly outsideMegabytes: number
}

const isAspect = Schema.is(ScreenAspect)
const isSessionCall = Schema.is(SessionCall)
const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value)
const paramsOf = ({ params }: JsonObject): JsonObject => isObject(params) ? params : {}

type Served = Effect.Effect<JsonObject, HostRequestFailed>

/** Starts the worker of a launch. */
export const openWorker = (host: WorkerHost, launch: Launch): Effect.Effect<
  Transport,
  StartFailed,
  Scope.Scope | FileSystem.FileSystem | Path.Path | ChildProcessSpawner.ChildProcessSpawner
> =>
  Effect.gen(function*() {
    const { extension } = launch
    const session = yield* AtomicSession
    session.joined?.(extension)
    const diagnose = yield* Diagnostics
    const path = yield* Path.Path
    const scope = yield* Effect.scope
    const services = yield* Effect.context<ChildProcessSpawner.ChildProcessSpawner>()
    const holder = host.holders.get(extension)
    const pulseBuffer = holder?.pulseBuffer ?? new SharedArrayBuffer(pulseBytes)
    const pulse = holder?.pulse ?? new Pulse(pulseBuffer)
    const descendants = holder?.descendants ?? new Descendants()
    const leases = new FileLeases(scope)
    const feed = new StateFeed((key) => session.read(key, extension))
    const generation = (host.lives.get(extension) ?? 0) + 1
    host.lives.set(extension, generation)
    const sync = yield* Effect.acquireRelease(
      Effect.sync(() =>
        openSyncAnswers((method, argument) => {
          if (method === "load") return host.transpiler.load(argument)
          if (method === "watch") return plainly(feed.watch(argument))
          throw new Error(`there is no ${method}`)
        })),
      ({ close }) => Effect.sync(close)
    )
    const warn = (message: string) => diagnose({ level: "warning", message: `extension '${extension}': ${message}`, extension })
    const connection = yield* openWorkerThread(launch, {
      entry: host.entry,
      data: {
        syncPort: sync.port,
        syncFlag: sync.flag,
        pulse: pulseBuffer,
        entry: launch.command[0],
        name: extension,
        log: path.join(launch.logs, logNameOf(extension)),
        bin: launch.environment["NIMLET_BIN"] ?? "nimlet",
        generation,
        aliases: host.aliases
      },
      transfer: [sync.port],
      heapMegabytes: host.heapMegabytes + headroomMegabytes,
      beforeEnd: () => descendants.kill(),
      joins: holder?.connection
    })
    const thread: Thread = { connection, pulse, pulseBuffer, descendants }
    yield* Effect.forkScoped(Effect.andThen(Deferred.await(connection.shared.gone), Effect.sync(() => host.holders.delete(extension))))
    yield* Effect.addFinalizer(() => Effect.sync(() => {
      if (host.holders.get(extension) === thread && connection.shared.connections === 1) host.holders.delete(extension)
    }))
    if (holder !== undefined) host.holders.set(extension, thread)
    const say = (line: string): Effect.Effect<unknown> => connection.send(line)
    yield* Effect.acquireRelease(
      Effect.sync(() => host.bus.set(extension, say)),
      // The next life may have taken the place already.
      () => Effect.sync(() => host.bus.get(extension) === say && host.bus.delete(extension))
    )

    const call = (method: string, params: JsonObject): Served | undefined => {
      switch (method) {
        case "exec":
          return Effect.provideContext(exec(params, { cwd: launch.workspace, environment: launch.environment }), services)
        case "search.programs":
          return Effect.map(ripgrepPrograms, (programs) => ({ programs }))
        case "file.lock":
          return Effect.map(leases.acquire(String(params.path)), (lease) => ({ lease }))
        default:
          return isSessionCall(method) ? session.call(extension, method, params) : undefined
      }
    }

    const doTold = (line: JsonObject): Effect.Effect<unknown> => {
      const served = call(String(line.method), paramsOf(line))
      return served === undefined
        ? warn(`there is no ${String(line.method)}`)
        : Effect.catchTag(served, "HostRequestFailed", ({ reason }) => warn(`${String(line.method)}: ${reason || "not available"}`))
    }
    // One after another: what an extension says in order is done in order.
    const told = yield* Queue.dropping<JsonObject, Cause.Done>(maxTold)
    const telling = yield* Stream.fromQueue(told).pipe(Stream.runForEach(doTold), Effect.forkScoped)
    // What it said last is still done.
    yield* Effect.addFinalizer(() => Effect.andThen(Queue.end(told), Effect.timeoutOption(Fiber.await(telling), lastWords)))

    /** Objects live in one worker, so a second extension that asks for a key gets one of its own; that is told. */
    const claim = (key: string) => {
      const owner = host.scoped.get(key) ?? extension
      host.scoped.set(key, owner)
      return owner === extension
        ? Effect.void
        : warn(`the session-scoped object '${key}' is not shared with extension '${owner}', which has one of that key too`)
    }

    const hear = Effect.fnUntraced(function*(line: JsonObject) {
      switch (line.type) {
        case "bus": {
          const text = JSON.stringify({ type: "bus", channel: line.channel, data: line.data })
          yield* Effect.forEach([...host.bus].filter(([key]) => key !== extension), ([, send]) => send(text), { discard: true })
          return true
        }
        case "fault":
          yield* warn(`${String(line.event)}: ${String(line.message)}`)
          return true
        case "show":
          if (isAspect(line.aspect)) yield* session.show(extension, line.aspect, line.value)
          return true
        case "tell":
          // Others wait for it; it does not wait for what was said before.
          if (line.method === "file.unlock") yield* leases.release(paramsOf(line).lease)
          // The answer that comes behind it may be followed by a request to the model at once.
          else if (line.method === "tools.set_active") yield* doTold(line)
          else if (!(yield* Queue.offer(told, line))) yield* warn("does more than can be done; a call was dropped")
          return true
        case "child":
          if (typeof line.pid === "number") descendants.started(line.pid)
          return true
        case "thread":
          if (typeof line.id === "number") descendants.thread(line.id)
          return true
        case "scoped":
          if (!host.holders.has(extension)) host.holders.set(extension, thread)
          yield* claim(String(line.key))
          return true
        case "failed":
          connection.leave(`threw ${String(line.message)}`)
          return true
        default:
          return false
      }
    })
    const companion: Companion = {
      prelude: () => {
        const news = feed.news()
        return news === undefined ? [] : [JSON.stringify(news)]
      },
      hear,
      serve: (method, line) => call(method, paramsOf(line)),
      servedAtOnce
    }

    const doing = (how: string): string => pulse.running === "" ? how : `${how} ${pulse.running}`
    let ended: string | undefined
    /** What it is doing is read now: ending its programs may let it go on for a moment. */
    const end = (how: string): void => {
      ended ??= doing(how)
      connection.end(ended)
    }
    /** A worker that is asked to give something up and whose event loop does not turn is stuck. */
    const watchCancel = Effect.suspend(() => {
      const before = pulse.beats
      return Effect.andThen(Effect.sleep(cancelGrace), Effect.sync(() => {
        if (pulse.beats === before) end("did not respond to cancel and was ended")
      }))
    })
    yield* watchMemory(host, pulse, connection.worker, end)
    const transport: Transport = {
      ...connection,
      send: (line) =>
        line.startsWith("{\"type\":\"cancel\"")
          ? Effect.tap(connection.send(line), () => Effect.forkIn(watchCancel, scope))
          : connection.send(line),
      closed: Effect.map(connection.closed, (how) => ended ?? doing(how)),
      companion
    }
    return transport
  })

const megabytes = (bytes: number): number => Math.round(bytes / (1024 * 1024))

/** Ends a worker that holds too much. Its own figures do while its event loop turns; then Node is asked, which also works in a loop. */
const watchMemory = (host: WorkerHost, pulse: Pulse, worker: WorkerConnection["worker"], end: (how: string) => void) => {
  const judge = (heap: number, outside: number): void => {
    if (heap > host.heapMegabytes) end(`held ${heap} MB and was ended`)
    else if (outside > host.outsideMegabytes) end(`held ${outside} MB outside its heap and was ended`)
  }
  let beats = -1
  let asking = false
  const look = Effect.sync(() => {
    const stuck = pulse.beats === beats
    beats = pulse.beats
    judge(pulse.heap, pulse.outside)
    if (!stuck || asking) return
    asking = true
    // It is not waited for: a worker in a native call answers late or never.
    worker.getHeapStatistics().then(
      ({ external_memory, used_heap_size }) => {
        asking = false
        judge(megabytes(used_heap_size), megabytes(external_memory))
      },
      () => undefined
    )
  })
  const pause = Effect.suspend(() => Effect.sleep(pulse.running === "" ? memoryEvery.idle : memoryEvery.busy))
  return Effect.forkScoped(Effect.forever(Effect.andThen(pause, look)))
}

/** As JSON would carry it: what is first read and what comes later look the same. */
const plainly = (value: unknown): unknown => value === undefined ? undefined : JSON.parse(JSON.stringify(value) ?? "null")
