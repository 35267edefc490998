/**
 * The worker half: one extension module on its own thread. Plain TypeScript without Effect, so that it is small and quick to
 * start; it speaks the lines of `packages/protocol` (and `WorkerMessage.ts`) and gives the module the API it was written for.
 */
import { readlinkSync } from "node:fs"
import { setTimeout as after } from "node:timers"
import { getHeapStatistics } from "node:v8"
import type { MessagePort } from "node:worker_threads"
import { Answering } from "./Answering.ts"
import { type Boot, onNextBoot, takeBoot } from "./Boot.ts"
import { Bus } from "./Bus.ts"
import { type Call, Calls } from "./Calls.ts"
import { contain } from "./Containment.ts"
import { makeContext } from "./Context.ts"
import { dispatch } from "./Dispatch.ts"
import { HostSync } from "./HostSync.ts"
import { addressOf, explain, keepCompiled, load } from "./Loader.ts"
import { connectQueue } from "./FileQueue.ts"
import { makePi } from "./Pi.ts"
import { Pulse } from "./Pulse.ts"
import { Registry } from "./Registry.ts"
import { Replica } from "./Replica.ts"
import { faceOf, speak } from "./Sdk.ts"
import { bindScope } from "./ScopedState.ts"
import { call as callHost, type Session } from "./Session.ts"
import type { BashOperations } from "./tools/Operations.ts"
import { connectSearch } from "./tools/Search.ts"
import { type Fields, fieldsOf, isCallback, listOf, messageOf, textOf } from "./Values.ts"
import { commandRunner } from "./UserShell.ts"
import { invoke, prepare, runCommand, runTool } from "./Work.ts"
import { Wire } from "./Wire.ts"

/**
 * Events that the host does not wait for, most of them: handlers hear of them one after another, and of nothing else before. What
 * may take long, such as a guard that asks a person, holds nobody up.
 */
const inOrder: ReadonlySet<string> = new Set([
  "agent_start", "agent_end", "agent_settled", "step_start", "step_end", "message_start", "message_update", "message_end", "message_saved",
  "tool_execution_start", "tool_execution_update", "tool_execution_end"
])

/** How often the host can see that the event loop turns. */
const beatMillis = 250
const megabyte = 1024 * 1024

const first = takeBoot()
process.argv[1] = first.bin
const pulse = new Pulse(first.pulse)
const beat = (): void => {
  const { external_memory, used_heap_size } = getHeapStatistics()
  pulse.beat(Math.round(used_heap_size / megabyte), Math.round(external_memory / megabyte))
  after(beat, beatMillis).unref()
}
beat()

/** Generations that are loaded and not over; more than one only while one follows another. */
let live = 0
/** Generations loaded into this worker before. */
let earlier = 0
/** Tells the host of programs; the newest generation's. */
let tellChild: ((pid: number) => void) | undefined

const over = (port: MessagePort): void => {
  if (--live === 0) process.exit(0)
  port.close()
}

/** Loads the module for one generation and serves it until the host says no more. */
const run = async (boot: Boot, sync: HostSync): Promise<void> => {
  const generation = earlier++
  live++
  const replica = new Replica(sync)
  const calls = new Calls()
  const registry = new Registry()
  const started = Promise.withResolvers<Fields>()
  let isOver = false
  let serve: ((message: Fields) => void) | undefined
  /** An extension that speaks for itself. */
  let spoken: ((message: Fields) => void) | undefined
  const wire = new Wire(boot.port, (message) => {
    spoken?.(message)
    switch (message["type"]) {
      case "initialize":
        return started.resolve(message)
      case "state":
        return replica.hear(message)
      case "bus":
        return bus.deliver(textOf(message["channel"]), message["data"])
      case "cancel":
        return calls.cancel(textOf(message["id"]))
      case "shutdown":
        isOver = true
        sync.close()
        return
      default:
        return serve?.(message)
    }
  }, () => over(boot.port))
  const bus = new Bus(wire)
  const said = new Set<string>()
  const missing = (what: string): void => {
    if (said.has(what)) return
    said.add(what)
    wire.send({ type: "fault", event: what, message: "not available here" })
  }
  tellChild = (pid) => wire.send({ type: "child", pid })
  try {
    // Its number in the system, by which the host finds programs that it waits for.
    wire.send({ type: "thread", id: Number(readlinkSync("/proc/thread-self").split("/").at(-1)) })
  } catch {
    // A system without these files.
  }

  const initialize = await started.promise
  const session: Session = {
    boot,
    wire,
    replica,
    calls,
    registry,
    bus,
    start: {
      cwd: textOf(initialize["workspace"]),
      mode: textOf(initialize["mode"]),
      hasUi: initialize["ui"] === true,
      trusted: initialize["trusted"] === true
    },
    saying: new Set(),
    isOver: () => isOver,
    missing
  }
  const { commandContext, context } = makeContext(session)
  connectQueue({
    lock: (path) => callHost(session, "file.lock", { path }),
    unlock: (lease) => wire.send({ type: "tell", method: "file.unlock", params: { lease } })
  })
  connectSearch(async () => listOf((await callHost(session, "search.programs"))["programs"]).map(String))
  bindScope(bus, (key) => wire.send({ type: "scoped", key }))

  /** What the API's events cannot know of the payload: who answered before. */
  const noteSelected = ({ model, provider, thinking }: Fields): void => {
    replica.set("was", { model: model === "" ? {} : { id: model, provider }, thinking })
  }
  replica.set("was", {})

  const answering = new Answering()
  let told: Promise<void> | undefined
  const dispatching = {
    registry,
    context: () => context,
    begin: (what: string) => pulse.begin(what === "" ? "" : `on ${what}`),
    keep: (operations: BashOperations, { command, cwd }: Fields) =>
      ({ extension: boot.name, handle: registry.once(commandRunner(session, operations, textOf(command), textOf(cwd))) }),
    fault: (event: string, text: string) => wire.send({ type: "fault", event, message: text })
  }
  const runHook = (hook: string, payload: Fields, call: Call): Promise<Fields> => {
    const occasion = { payload, cwd: session.start.cwd, call, generation: boot.generation, state: (key: string) => replica.get(key) }
    const reply = dispatch(hook, occasion, dispatching)
    return typeof payload["model"] === "string" ? reply.finally(() => noteSelected(payload)) : reply
  }
  // Every tool call of every extension comes through here: no turn of the queue where nothing is waited for.
  const runEvent = (message: Fields, call: Call): Promise<Fields> => {
    const hook = textOf(message["event"])
    const payload = fieldsOf(message["payload"])
    if (inOrder.has(hook)) return runInOrder(hook, payload, call)
    return told === undefined ? runHook(hook, payload, call) : told.then(() => runHook(hook, payload, call))
  }
  const runInOrder = async (hook: string, payload: Fields, call: Call): Promise<Fields> => {
    const before = told
    const { promise, resolve } = Promise.withResolvers<void>()
    told = promise
    // One that is given up holds nobody up.
    call.signal.addEventListener("abort", () => resolve(), { once: true })
    try {
      await before
      if (hook !== "message_update") return await runHook(hook, payload, call)
      for (const each of answering.take(payload, Date.now())) await runHook(hook, each, call)
      return {}
    } finally {
      resolve()
    }
  }

  const work = (message: Fields, call: Call): Promise<Fields> | Fields => {
    switch (message["type"]) {
      case "event":
        return runEvent(message, call)
      case "tool":
        pulse.begin(`in tool ${textOf(message["name"])}`)
        return runTool(session, context, message, call)
      case "command":
        pulse.begin(`in command /${textOf(message["name"])}`)
        return runCommand(session, commandContext, message)
      case "prepare":
        return prepare(session, message)
      case "invoke":
        pulse.begin("in a shortcut or completion")
        return invoke(session, message)
      default:
        return {}
    }
  }

  serve = (message) => {
    const id = textOf(message["id"])
    if (id === "") return
    void calls.run(id, textOf(message["type"]), async (call) => {
      const reply = await work(message, call)
      pulse.begin("")
      wire.reply(id, reply)
    })
  }

  pulse.begin("while loading")
  try {
    const module: Fields = await import(addressOf(boot.entry, generation))
    const outer = module["default"]
    const factory = isCallback(outer) ? outer : fieldsOf(outer)["default"]
    const face = faceOf(outer) ?? faceOf(fieldsOf(outer)["default"])
    if (face !== undefined) {
      serve = undefined
      spoken = speak(face, wire, pulse)
      spoken(initialize)
      return pulse.begin("")
    }
    if (!isCallback(factory)) throw new TypeError(`${boot.entry} exports no extension as its default: a factory function, or what Extension.define gives`)
    await factory(makePi(session, context))
  } catch (thrown) {
    pulse.begin("")
    const error = explain(thrown)
    // The first generation takes its worker with it; a later one leaves the one before as it is.
    if (generation === 0) throw error
    wire.send({ type: "failed", message: messageOf(error) })
    return
  }
  pulse.begin("")
  let pending = false
  const tellChanges = (): void => {
    if (pending) wire.send(registry.line())
    pending = false
  }
  wire.send(registry.line())
  registry.onChange = () => {
    pending = true
    queueMicrotask(tellChanges)
  }
  wire.beforeReply = tellChanges
}

const begin = async (boot: Boot): Promise<void> => {
  const sync = new HostSync(boot.syncPort, boot.syncFlag)
  load(boot.aliases, sync)
  await run(boot, sync)
  // It has been told that it is ready; this can come after.
  keepCompiled()
}

contain(first.log, (pid) => tellChild?.(pid))
onNextBoot((boot) => void begin(boot))
await begin(first)
