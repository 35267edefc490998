/** Runs the handlers of an event, one after another, and makes the reply. */
import { eventsOf, type Occasion } from "./Events.ts"
import type { Registry } from "./Registry.ts"
import type { BashOperations } from "./tools/Operations.ts"
import { type Fields, messageOf } from "./Values.ts"

/** What running handlers needs. */
export interface DispatchOptions {
  readonly registry: Registry
  readonly context: () => object
  /** A handler begins; an empty name when it is over. */
  readonly begin: (what: string) => void
  /** Keeps what runs a command; gives what the host knows it by. */
  readonly keep: (operations: BashOperations, event: Fields) => Fields
  /** A handler failed and the others go on. */
  readonly fault: (event: string, message: string) => void
}

/**
 * Asks the handlers of everything that comes of `hook`. A guard that throws ends it with `failed`; a handler that throws
 * anywhere else is told of and passed over.
 */
export const dispatch = async (hook: string, occasion: Occasion, { begin, context, fault, keep, registry }: DispatchOptions): Promise<Fields> => {
  let reply: Fields = {}
  let { payload } = occasion
  for (const [name, row] of eventsOf(hook)) {
    for (const handler of registry.handlersOf(name)) {
      const fields = row.event({ ...occasion, payload })
      if (fields === undefined) break
      const event = { type: name, ...fields }
      let result: unknown
      try {
        begin(name)
        result = await handler(event, context())
      } catch (error) {
        if (row.guards === true) return { failed: messageOf(error) }
        fault(name, messageOf(error))
        continue
      } finally {
        begin("")
      }
      if (row.took === undefined) continue
      const took = row.took(event, result, payload, reply)
      reply = took.operations === undefined ? took.reply : { ...took.reply, operations: keep(took.operations, event) }
      payload = took.payload ?? payload
      if (took.stop === true) return reply
    }
  }
  return reply
}
