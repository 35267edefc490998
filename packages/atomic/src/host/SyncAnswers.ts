/** The host's end of a worker's blocking calls: answered at once, from memory or disk, whatever else goes on. */
import { MessageChannel, type MessagePort } from "node:worker_threads"

/** Answers one call; what it throws is thrown in the worker. */
export type Answer = (method: string, argument: string) => unknown

/** Ports and flag of one worker; `close` when it is gone. */
export interface SyncAnswers {
  readonly port: MessagePort
  readonly flag: SharedArrayBuffer
  readonly close: () => void
}

const isCall = (message: unknown): message is { readonly method: string; readonly argument: string } =>
  typeof message === "object" && message !== null && "method" in message && "argument" in message &&
  typeof message.method === "string" && typeof message.argument === "string"

/** Opens the host's end. */
export const openSyncAnswers = (answer: Answer): SyncAnswers => {
  const { port1: near, port2: far } = new MessageChannel()
  const flag = new SharedArrayBuffer(4)
  const slot = new Int32Array(flag)
  near.on("message", (message: unknown) => {
    if (!isCall(message)) return
    const reply = (value: object): void => near.postMessage(value)
    try {
      reply({ value: answer(message.method, message.argument) })
    } catch (error) {
      reply({ error: error instanceof Error ? error.message : String(error) })
    }
    Atomics.store(slot, 0, 1)
    Atomics.notify(slot, 0)
  })
  return { port: far, flag, close: () => near.close() }
}
