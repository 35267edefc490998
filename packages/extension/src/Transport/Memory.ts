/** Extensions inside this process: scripted peers for tests and for embedding. Same limits, no bytes. */
import { Cause, Deferred, Effect, Exit, Layer, Queue, Result, type Scope, Stream } from "effect"
import type { JsonObject } from "@nimlet/protocol"
import { StartFailed } from "../ExtensionError.ts"
import { isJsonObject, parseJson } from "../Json.ts"
import { type Launch, Launcher } from "../Launcher.ts"
import type { Transport } from "../Transport.ts"
import { type Line, maxInboundBytes } from "./Lines.ts"
import { Outbox } from "./Outbox.ts"

/** The extension's end of a memory transport. */
export interface Peer {
  /** The next message of the host; ends the script (as end-of-file does a program) when there is no more. */
  readonly receive: Effect.Effect<JsonObject, Cause.Done>
  /** The same, as the line it is. */
  readonly receiveLine: Effect.Effect<string, Cause.Done>
  /** Writes a line: an object as JSON, a string as it is. Waits when the host does not read. */
  readonly send: (line: JsonObject | string) => Effect.Effect<void>
}

/** What a peer does. Its end, or the end of input inside `receive`, is an exit with code 0, a failure one with 1. */
export type Script = (peer: Peer, launch: Launch) => Effect.Effect<void, unknown, Scope.Scope>

const inboundLines = 64
/** After its end, what the peer has written is read for at most this long. */
const drainFor = "250 millis"

/** Runs a script as the peer of a new transport; closing the scope interrupts it. */
export const openMemory = Effect.fnUntraced(function*(script: Script, launch: Launch) {
  const outbox = new Outbox(launch.maxLineBytes)
  const inbound = yield* Queue.bounded<Line, Cause.Done>(inboundLines)
  const closed = yield* Deferred.make<string>()
  const silent = yield* Deferred.make<void>()
  const decoder = new TextDecoder()
  let unread: Array<string> = []

  const receiveLine: Peer["receiveLine"] = Effect.suspend(() => {
    const line = unread.shift()
    if (line !== undefined) return Effect.succeed(line)
    return Effect.flatMap(outbox.take, (bytes) => {
      unread = decoder.decode(bytes).split("\n").slice(0, -1)
      return receiveLine
    })
  })
  const receive: Peer["receive"] = Effect.flatMap(receiveLine, (line) => {
    const parsed = parseJson(line)
    return Result.isSuccess(parsed) && isJsonObject(parsed.success) ? Effect.succeed(parsed.success) : receive
  })
  const peer: Peer = {
    receive,
    receiveLine,
    send: (message) => {
      const text = typeof message === "string" ? message : JSON.stringify(message)
      const line: Line = text.length > maxInboundBytes
        ? Result.fail({ _tag: "LineTooLong", limit: maxInboundBytes })
        : Result.succeed(text)
      return text.trim() === "" ? Effect.void : Effect.asVoid(Queue.offer(inbound, line))
    }
  }
  const leave = Effect.fnUntraced(function*(exit: Exit.Exit<void, unknown>) {
    yield* outbox.end
    yield* Queue.end(inbound)
    yield* Effect.timeoutOption(Deferred.await(silent), drainFor)
    yield* Deferred.succeed(closed, `exited with code ${Exit.isSuccess(exit) ? 0 : 1}`)
  })
  yield* Effect.scoped(script(peer, launch)).pipe(
    Effect.catchIf(Cause.isDone, () => Effect.void),
    Effect.exit,
    Effect.flatMap(leave),
    Effect.ensuring(outbox.end),
    Effect.forkScoped
  )
  const transport: Transport = {
    send: (line) => outbox.send(line),
    inbound: Stream.ensuring(Stream.fromQueue(inbound), Deferred.succeed(silent, undefined)),
    endInput: outbox.end,
    closed: Deferred.await(closed)
  }
  return transport
})

/** Launches scripts by the first word of the manifest's command. */
export const layerMemory = (scripts: Readonly<Record<string, Script>>): Layer.Layer<Launcher> =>
  Layer.succeed(Launcher, {
    open: (launch) => {
      const script = scripts[launch.command[0]]
      return script === undefined
        ? Effect.fail(new StartFailed({ extension: launch.extension, reason: `cannot find ${launch.command[0]}` }))
        : openMemory(script, launch)
    }
  })
