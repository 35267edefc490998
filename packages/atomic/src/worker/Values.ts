/** Values of unknown shape: what extensions hand over is checked, never believed. Plain, as all of the worker half. */

/** A plain object with unchecked values. */
export interface Fields {
  [key: string]: unknown
}

/** A function of an extension. */
export type Callback = (...args: ReadonlyArray<unknown>) => unknown

/** Whether it is an object that is no array. */
export const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value)

/** Whether it is a function. */
export const isCallback = (value: unknown): value is Callback => typeof value === "function"

/** The value as an object; an empty one when it is none. */
export const fieldsOf = (value: unknown): Fields => isFields(value) ? value : {}

/** The value as a text; `other` when it is none. */
export const textOf = (value: unknown, other = ""): string => typeof value === "string" ? value : other

/** The value as a list; an empty one when it is none. */
export const listOf = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : []

/** What somebody threw, as a text. */
export const messageOf = (error: unknown): string => error instanceof Error ? `${error.name}: ${error.message}` : String(error)

/** A copy that is plain JSON: functions and undefined are gone. Undefined when nothing of it is. */
export const plain = (value: unknown): unknown => {
  const text = JSON.stringify(value)
  return text === undefined ? undefined : JSON.parse(text)
}

/** A copy of JSON, to be changed without changing what it is a copy of. */
export const copyOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(copyOf)
  return isFields(value) ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copyOf(each)])) : value
}

/** Texts and parts of content as one text. */
export const contentText = (content: unknown): string =>
  typeof content === "string"
    ? content
    : listOf(content).map(fieldsOf).filter(({ type }) => type === "text").map(({ text }) => textOf(text)).join("\n")
