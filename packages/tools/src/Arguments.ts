/** Reading arguments that the caller has already held against the tool's schema. */
import type { JsonObject } from "@nimlet/protocol"

/** The text under `key`, undefined when there is none. */
export const textArgument = (args: JsonObject, key: string): string | undefined => {
  const value = args[key]
  return typeof value === "string" ? value : undefined
}

/** The number under `key`, undefined when there is none. */
export const numberArgument = (args: JsonObject, key: string): number | undefined => {
  const value = args[key]
  return typeof value === "number" && Number.isFinite(value) ? value : undefined
}

/** The number under `key` brought into a range; `fallback` when there is none. */
export const boundedArgument = (args: JsonObject, key: string, fallback: number, max: number): number =>
  Math.max(1, Math.min(max, Math.floor(numberArgument(args, key) ?? fallback)))

/** Whether `key` is true. */
export const isSet = (args: JsonObject, key: string): boolean => args[key] === true
