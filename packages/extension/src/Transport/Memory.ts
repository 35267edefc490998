/** Extensions inside this process: scripted peers for tests and for embedding. Same limits, no bytes. */
import { Cause, Deferred, Effect, Layer, Queue, Result, type Scope, Stream } from "effect"
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
  /** Writes a line: an object as JSON, a string as it is. Waits when the host does not read. */
  readonly send: (line: JsonObject | string) => Effect.Effect<void>
}

/** What a peer does. Its end, or the end of input inside `receive`, is an exit with code 0, a failure one with 1. */
export type Script = (peer: Peer, launch: Launch) => Effect.Effect<void, unknown, Scope.Scope>

const inboundLines = 64

/** Runs a script as the peer of a new transport; closing the scope interrupts it. */
export const openMemory = Effect.fnUntraced(function*(script: Script, launch: Launch) {
  const outbox = yield* Outbox.make(launch.maxLineBytes)
  const inbound = yield* Queue.bounded<Line, Cause.Done>(inboundLines)
  const closed = yield* Deferred.make<string>()
  const decoder = new TextDecoder()
  let unread: Array<string> = []

  const receive: Peer["receive"] = Effect.suspend(() => {
    const line = unread.shift()
    if (line === undefined) {
      return Effect.flatMap(outbox.take, (bytes) => {
        unread = decoder.decode(bytes).split("\n").slice(0, -1)
        return receive
      })
    }
    const parsed = parseJson(line)
    return Result.isSuccess(parsed) && isJsonObject(parsed.success) ? Effect.succeed(parsed.success) : receive
  })
  const peer: Peer = {
    receive,
    send: (message) => {
      const text = typeof message === "string" ? message : JSON.stringify(message)
      const line: Line = text.length > maxInboundBytes
        ? Result.fail({ _tag: "LineTooLong", limit: maxInboundBytes })
        : Result.succeed(text)
      return text.trim() === "" ? Effect.void : Effect.asVoid(Queue.offer(inbound, line))
    }
  }
  yield* Effect.scoped(script(peer, launch)).pipe(
    Effect.catchIf(Cause.isDone, () => Effect.void),
    Effect.exit,
    Effect.flatMap((exit) =>
      Effect.andThen(
        Effect.andThen(outbox.end, Queue.end(inbound)),
        Deferred.succeed(closed, `exited with code ${exit._tag === "Success" ? 0 : 1}`)
      )
    ),
    Effect.forkScoped
  )
  const transport: Transport = {
    send: (line) => outbox.send(line),
    inbound: Stream.fromQueue(inbound),
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
