/** For whom work is done that an extension asked of the host. */
import { Context } from "effect"

/**
 * Keys of the extensions whose host requests are being served here, also through another extension's hook. An event that
 * comes of it and reaches one of them has a budget that runs although its request is open: else they would wait for each
 * other for ever. Whoever serves a request keeps it by working in the same fiber or its children.
 */
export const OnBehalfOf = Context.Reference<ReadonlySet<string>>("@nimlet/extension/OnBehalfOf", {
  defaultValue: () => new Set()
})
