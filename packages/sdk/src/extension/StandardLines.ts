/**
 * JSON lines over standard input and output, for an extension that is a program of its own. It runs in other people's
 * processes, which may have no platform of Effect, so this one file uses Node itself.
 */
import { Effect, Queue, Stream } from "effect"
import type { Cause } from "effect"
import { Console } from "node:console"
import nodeProcess from "node:process"
import { createInterface } from "node:readline"
import type { JsonObject } from "@nimlet/protocol"
import type { Lines } from "./HostLink.ts"

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value)

const objectIn = (line: string): ReadonlyArray<JsonObject> => {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? [value] : []
  } catch {
    // Not ours to judge: the host writes lines of JSON.
    return []
  }
}

/** Standard output is for lines of the protocol alone: what is logged goes to standard error, which nimlet keeps in a file. */
const freeOutput = Effect.sync(() => {
  globalThis.console = new Console(nodeProcess.stderr)
})

const write = (text: string) =>
  Effect.callback<void>((resume) => {
    nodeProcess.stdout.write(text, () => resume(Effect.void))
  })

/** The lines of this process; its input ends with the host. */
export const standardLines: Effect.Effect<Lines> = Effect.gen(function*() {
  yield* freeOutput
  const inbound = yield* Queue.unbounded<JsonObject, Cause.Done>()
  const reader = createInterface({ input: nodeProcess.stdin, crlfDelay: Infinity })
  reader.on("line", (line) => {
    for (const message of objectIn(line)) Queue.offerUnsafe(inbound, message)
  })
  reader.on("close", () => Queue.endUnsafe(inbound))
  // A host that is gone reads nothing; that is the end, not a fault.
  nodeProcess.stdout.on("error", () => Queue.endUnsafe(inbound))
  return { inbound: Stream.fromQueue(inbound), send: (line) => write(`${JSON.stringify(line)}\n`) }
})
