/** The first exchange: `initialize` out, `register` in (seed 000, "Startup sequence"). */
import { Result } from "effect"
import type { Initialize, Registration } from "@nimlet/protocol"
import { isJsonObject, parseJson } from "./Json.ts"
import { deepFieldsOf, maxNesting } from "./Nesting.ts"
import { decodeRegister } from "./RegisterLine.ts"
import { offerFaults } from "./RegisterLine/OfferFaults.ts"
import type { Line } from "./Transport/Lines.ts"

/** Registration ends after this when the manifest sets no limit on replies. */
export const registrationSeconds = 30

/** Newest stored data handed over in `initialize`, in bytes of JSON. */
const maxEntryBytes = 1024 * 1024

/** What the first line says; see `Initialize`. */
export const initializeWith = (session: Omit<Initialize, "type" | "version">): Initialize => ({
  type: "initialize",
  version: 1,
  ...session,
  entries: newest(session.entries)
})

const encoder = new TextEncoder()

const newest = (entries: ReadonlyArray<unknown>): ReadonlyArray<unknown> => {
  let left = maxEntryBytes
  const from = entries.findLastIndex((entry) => (left -= encoder.encode(JSON.stringify(entry)).length) < 0)
  return from === -1 ? entries : entries.slice(from + 1)
}

/** What a line before registration means. */
export type Greeting =
  | { readonly _tag: "Registered"; readonly registration: Registration; readonly faults: ReadonlyArray<string> }
  /** `faults` say more of where. */
  | { readonly _tag: "Refused"; readonly reason: string; readonly faults?: ReadonlyArray<string> }
  /** Not JSON: log text of a program that has not begun to speak. */
  | { readonly _tag: "Noise"; readonly text: string }

/** Judges a line before registration. */
export const greet = (line: Line): Greeting => {
  if (Result.isFailure(line)) return { _tag: "Refused", reason: `first line over ${line.failure.limit} bytes` }
  const parsed = parseJson(line.success)
  if (Result.isFailure(parsed)) return { _tag: "Noise", text: line.success }
  if (!isJsonObject(parsed.success)) return { _tag: "Refused", reason: "expected register response" }
  const deep = deepFieldsOf(parsed.success, line.success.length)
  if (deep.length > 0) return { _tag: "Refused", reason: `register nests over ${maxNesting} levels in ${deep.join(", ")}` }
  const faults = parsed.success.type === "register" ? offerFaults(parsed.success) : []
  return Result.match(decodeRegister(parsed.success), {
    onFailure: (reason): Greeting => ({ _tag: "Refused", reason, faults }),
    onSuccess: (registration): Greeting => ({ _tag: "Registered", registration, faults })
  })
}
