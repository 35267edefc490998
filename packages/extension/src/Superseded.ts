/** A peer that pours statuses and widgets costs the frontend only the last of each (seed 000, "Side effects"). Pure. */
import { Result, Schema } from "effect"
import { SideEffects, type JsonObject } from "@nimlet/protocol"
import { isJsonObject, parseJson } from "./Json.ts"
import type { Line } from "./Transport/Lines.ts"

/** What is replaced by the next one of its key. */
const replaced = ["status", "widget"] as const
type Replaced = (typeof replaced)[number]
const holds = { status: Schema.is(SideEffects.status), widget: Schema.is(SideEffects.widget) }

const keyOf = (line: JsonObject, field: Replaced): string | undefined => {
  const value = line[field]
  return isJsonObject(value) && typeof value.key === "string" ? value.key : undefined
}

/** An `update` that says nothing but what is replaced. */
const isPlain = (line: JsonObject) =>
  line.type === "update" && Object.keys(line).every((field) => field === "type" || field === "status" || field === "widget")

/** A chunk of fewer lines is heard as it is: nobody pours. */
const pouring = 32

/**
 * The lines of one large chunk without the updates that a later one of it replaces whole. Only a well-formed status or widget
 * replaces an earlier one: of an ill-formed one the last good value stays.
 */
export const withoutSuperseded = (lines: ReadonlyArray<Line>): ReadonlyArray<Line> => {
  if (lines.length < pouring) return lines
  const later = { status: new Set<string>(), widget: new Set<string>() }
  const kept: Array<Line> = []
  for (const line of lines.toReversed()) {
    if (!isSuperseded(line, later)) kept.push(line)
  }
  return kept.length === lines.length ? lines : kept.reverse()
}

const isSuperseded = (line: Line, later: Record<Replaced, Set<string>>): boolean => {
  if (Result.isFailure(line) || !replaced.some((field) => line.success.includes(`"${field}"`))) return false
  const parsed = Result.getOrUndefined(parseJson(line.success))
  if (!isJsonObject(parsed)) return false
  let news = !isPlain(parsed)
  for (const field of replaced) {
    if (parsed[field] === undefined) continue
    const key = keyOf(parsed, field)
    if (key !== undefined && later[field].has(key)) continue
    news = true
    if (key !== undefined && holds[field](parsed[field])) later[field].add(key)
  }
  return !news
}
