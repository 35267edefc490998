/** An extension on a worker thread of nimlet: the host's worker half passes lines on, and needs no Effect for it. */
import { Effect, Queue, Stream } from "effect"
import type { JsonObject } from "@nimlet/protocol"
import { type ServedExtension, serveExtension } from "./Serve.ts"

/** What stands under this key of an extension: called once a life with `send`, gives what takes the host's lines. */
export const workerMark: unique symbol = Symbol.for("@nimlet/sdk/Extension")

/** Serves an extension: takes the function that sends a line, gives the one that takes the host's. */
export type WorkerFace = (send: (line: JsonObject) => void) => (line: JsonObject) => void

/** The face of an extension. The lines it is given are the host's, which bounds how many are open. */
export const workerFace = (extension: ServedExtension): WorkerFace => (send) => {
  const inbound = Effect.runSync(Queue.unbounded<JsonObject>())
  const lines = { inbound: Stream.fromQueue(inbound), send: (line: JsonObject) => Effect.sync(() => send(line)) }
  // The thread is the life: what fails here is a fault that ends it.
  Effect.runFork(serveExtension(extension, lines))
  return (line) => void Queue.offerUnsafe(inbound, line)
}
