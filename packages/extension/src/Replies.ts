/** What an extension answered to `tool` and `command`: what counts of it, and what is wrong with the rest. Pure. */
import { Schema } from "effect"
import { beginningOf, CommandReplyFields, givenImageFault, type JsonObject, ToolContent, ToolReplyFields, unsentImage } from "@nimlet/protocol"
import { fieldsOf } from "./Fields.ts"
import { isJsonObject } from "./Json.ts"
import type { CommandReply, ToolReply } from "./Offer.ts"

const toolFields = fieldsOf(ToolReplyFields)
const commandFields = fieldsOf(CommandReplyFields)
const isToolContent = Schema.is(ToolContent)

/** What the fields of replies are, for their authors. */
const toolShapes = {
  content: 'a text, or a list of {"type": "text", "text"} and {"type": "image", "mimeType", "data"}',
  is_error: "true or false",
  details: "an object",
  terminate: "true or false"
}
const commandShapes = {
  message: "a text",
  session: 'an object with "action" new, switch (with "id"), fork (with "message", a number) or compact',
  reload: "true or false",
  prompt: "a text"
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null

/** What is wrong with a reply, by field; null is as good as nothing. */
const faultsIn = (shapes: Readonly<Record<string, string>>, bad: ReadonlyArray<string>, line: JsonObject): ReadonlyArray<string> =>
  bad.filter((field) => !isAbsent(line[field])).map((field) => `${field} must be ${shapes[field] ?? "something else"}`)

/** As much of an author's own word for a failure as is told. */
const mostOfAnError = 2_000

/**
 * What a reply says of its own failure in a field `error`, which no request asks for: whoever writes one means that it did not
 * work. undefined where it says nothing.
 */
export const errorIn = ({ error }: JsonObject): string | undefined => {
  if (isAbsent(error) || error === "" || error === false) return undefined
  const said = isJsonObject(error) && typeof error.message === "string" ? error.message : error
  return beginningOf(typeof said === "string" ? said : JSON.stringify(said), mostOfAnError)
}

const text = (said: string) => ({ type: "text", text: said }) as const

/** The parts of an answer that can be used; undefined when there is an answer and nothing of it can. */
const partsOf = (content: unknown): ToolReply["content"] | undefined => {
  if (isAbsent(content)) return [text("")]
  if (typeof content === "string") return [text(content)]
  if (!Array.isArray(content)) return undefined
  const parts = content.filter(isToolContent)
  return parts.length > 0 || content.length === 0 ? parts : undefined
}

/** Why an image of an answer cannot be sent to a model. */
const faultOf = (part: ToolContent): string | undefined =>
  part.type === "text" || part.data === undefined ? undefined : givenImageFault(part.mimeType, part.data)

/** A decoded reply, and what its author should know. */
export interface Judged<A> {
  readonly reply: A
  readonly faults: ReadonlyArray<string>
}

/**
 * The result of a tool. A reply without `content` is an empty one (seed 000 asks for no more than an answer); one that says
 * `error`, or whose `content` is nothing that can be read, is a failure that the model reads of.
 */
export const toolReplyOf = (key: string, line: JsonObject): Judged<ToolReply> => {
  const { bad, values: { details, terminate } } = toolFields(line)
  const error = errorIn(line)
  const parts = partsOf(line.content)
  const unread = `extension '${key}' gave this tool's result in a form that cannot be read: content must be ${toolShapes.content}. The tool has run; what it did is not known.`
  const unsent = (parts ?? []).map(faultOf).filter((fault) => fault !== undefined)
  const sendable = parts?.map((part) => {
    const fault = faultOf(part)
    return fault === undefined ? part : text(unsentImage(fault))
  })
  const content = sendable === undefined
    ? [text(error ?? unread)]
    : error === undefined ? sendable : [...sendable.filter((part) => part.type !== "text" || part.text !== ""), text(error)]
  return {
    faults: [...faultsIn(toolShapes, bad, line), ...unsent.map((fault) => `an image of content cannot be sent to any model: ${fault}`)],
    reply: {
      content,
      isError: line.is_error === true || parts === undefined || error !== undefined,
      ...(details === undefined ? {} : { details }),
      ...(terminate === undefined ? {} : { terminate })
    }
  }
}

/** What a command wants done. */
export const commandReplyOf = (line: JsonObject): Judged<CommandReply> => {
  const { bad, values } = commandFields(line)
  return { faults: faultsIn(commandShapes, bad, line), reply: values }
}
