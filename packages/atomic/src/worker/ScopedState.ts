/** `sessionScopedExtensionState`: live objects that outlast a reload as long as this worker does. */
import { isCallback, textOf } from "./Values.ts"

const scopes = new WeakMap<object, Map<string, unknown>>()
const session = new Map<string, unknown>()
let onFirst: ((key: string) => void) | undefined
let buses = new WeakSet<object>()

/** Says which objects stand for the session's bus, and who wants to know of the first use of a key. */
export const bindScope = (bus: object, first: (key: string) => void): void => {
  buses = buses.add(bus)
  onFirst = first
}

/**
 * The object under `key`, made by `create` when there is none. The scope is `pi.events`: every generation of a session's
 * extension has the same. Any other object is a scope of its own.
 */
export const sessionScopedExtensionState = (scope: unknown, key: unknown, create: unknown): unknown => {
  if (typeof scope !== "object" || scope === null) throw new TypeError("sessionScopedExtensionState: the scope is pi.events")
  if (!isCallback(create)) throw new TypeError("sessionScopedExtensionState: a function that makes the state is needed")
  const own = scopes.get(scope) ?? new Map<string, unknown>()
  const states = buses.has(scope) ? session : own
  if (states === own) scopes.set(scope, own)
  const name = textOf(key)
  if (!states.has(name)) {
    states.set(name, create())
    if (states === session) onFirst?.(name)
  }
  return states.get(name)
}
