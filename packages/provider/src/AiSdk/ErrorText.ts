/** What a provider says went wrong, found in whatever it answered. Pure. */
import { Predicate, Result } from "effect"

const oneLine = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, " ").trim()

/** Where services put their words, the plainest first. */
const keys = ["error", "message", "detail", "details", "error_description", "errors", "msg", "reason", "title"]

const place = (value: object): string => "loc" in value && Array.isArray(value.loc) ? `${value.loc.join(".")}: ` : ""

/** What a service in between has been told by the one behind it. */
const behind = (value: object): string => {
  const raw = Predicate.hasProperty(value, "metadata") && Predicate.hasProperty(value.metadata, "raw") ? value.metadata.raw : undefined
  const said = typeof raw === "string" ? errorText(raw) : wordsIn(raw)
  return said === undefined ? "" : `: ${said}`
}

/** The words in an error's JSON; undefined where nothing in it is known for words. */
export const wordsIn = (value: unknown): string | undefined => {
  if (typeof value === "string") return oneLine(value) || undefined
  if (Array.isArray(value)) return value.slice(0, 8).flatMap((one: unknown) => wordsIn(one) ?? []).join("; ") || undefined
  if (!Predicate.isObject(value)) return undefined
  for (const key of keys) {
    const words = Predicate.hasProperty(value, key) ? wordsIn(value[key]) : undefined
    if (words !== undefined) return `${place(value)}${words}${behind(value)}`
  }
  return undefined
}

const withoutTags = (page: string): string =>
  /<title[^>]*>([^<]+)/i.exec(page)?.[1] ?? page.replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, " ").replace(/<[^>]*>/g, " ")

/** The words in the body of an error, in one line: from JSON, a page or plain text. Undefined where there are none. */
export const errorText = (body: string): string | undefined => {
  const parsed = Result.try(() => JSON.parse(body) as unknown)
  if (Result.isSuccess(parsed)) return wordsIn(parsed.success) ?? (oneLine(body) || undefined)
  return oneLine(/^\s*</.test(body) ? withoutTags(body) : body) || undefined
}

/** The error in an answer that was to be something else; undefined where it is none. */
export const errorIn = (answer: string): unknown => {
  const parsed = Result.try(() => JSON.parse(answer) as unknown)
  const value = Result.isSuccess(parsed) ? parsed.success : undefined
  return Predicate.hasProperty(value, "error") && value.error !== null && value.error !== false ? value.error : undefined
}

/** The beginning of an answer, in one line. */
export const beginning = (answer: string): string => oneLine(answer).slice(0, 120).toWellFormed()
