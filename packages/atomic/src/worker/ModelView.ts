/** `ctx.modelRegistry`: the catalogue of models. Keys never enter a worker; what needs one is done by the host. */
import type { Replica } from "./Replica.ts"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "./Values.ts"
import type { Wire } from "./Wire.ts"

/** Makes the view of one worker. */
export const makeModelView = (replica: Replica, wire: Wire) => {
  const all = (): ReadonlyArray<Fields> => listOf(replica.get("models")).filter(isFields)
  const available = (): ReadonlyArray<Fields> => all().filter((model) => model["available"] !== false)
  const noKeys = async () => ({ ok: false, error: "keys stay in the host: use modelRegistry.complete" })
  return {
    find: (provider: unknown, id: unknown) => all().find((model) => model["provider"] === provider && model["id"] === id),
    getAll: () => [...all()],
    getAvailable: () => [...available()],
    hasConfiguredAuth: (model: unknown) =>
      available().some(({ id, provider }) => provider === fieldsOf(model)["provider"] && id === fieldsOf(model)["id"]),
    getProvider: (name: unknown) => all().find(({ provider }) => provider === name),
    getProviderDisplayName: (name: unknown) => textOf(name),
    isUsingOAuth: () => false,
    refresh: async () => undefined,
    getApiKeyAndHeaders: noKeys,
    getApiKeyForProvider: async () => undefined,
    complete: async (model: unknown, context: unknown, options?: unknown): Promise<unknown> => {
      const { signal, ...rest } = fieldsOf(options)
      const { id, provider } = fieldsOf(model)
      const params = { provider, id, context, options: rest }
      const reply = await wire.ask({ type: "host_request", method: "model.ask", params }, signal instanceof AbortSignal ? signal : undefined)
      if (typeof reply["error"] === "string") throw new Error(reply["error"])
      if (reply["cancelled"] === true) throw new DOMException("the request was given up", "AbortError")
      return fieldsOf(reply["result"])["message"]
    }
  }
}
