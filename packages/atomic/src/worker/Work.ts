/** Tools, commands and numbered functions: runs what the host asks for and makes the reply. */
import type { Call } from "./Calls.ts"
import type { Session } from "./Session.ts"
import { contentText, type Fields, fieldsOf, isCallback, isFields, listOf, messageOf, plain, textOf } from "./Values.ts"

const resultOf = (result: unknown): Fields => {
  const { content, details, terminate } = fieldsOf(result)
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : listOf(content).filter((part) => {
    const { data, mimeType, text, type } = fieldsOf(part)
    return type === "text" ? typeof text === "string" : type === "image" && typeof data === "string" && typeof mimeType === "string"
  })
  return {
    content: parts.map((part) => {
      const { data, mimeType, text, type } = fieldsOf(part)
      return type === "text" ? { type, text } : { type, data, mimeType }
    }),
    ...(isFields(details) ? { details: plain(details) } : {}),
    ...(terminate === true ? { terminate } : {})
  }
}

/** What a later state of a text adds to the one before: the host takes progress piece by piece, a tool tells all there is so far. */
const added = (before: string, now: string): string =>
  now.startsWith(before) ? now.slice(before.length) : before === "" || before.endsWith("\n") ? now : `\n${now}`

/** Calls a tool. What it throws is the result, for the model to read. */
export const runTool = async ({ registry, wire }: Session, context: object, message: Fields, call: Call): Promise<Fields> => {
  const tool = registry.tools.get(textOf(message["name"]))
  if (tool === undefined) return { content: `there is no tool ${textOf(message["name"])}`, is_error: true }
  let over = false
  let said = ""
  const onUpdate = (update: unknown): void => {
    if (over) return
    const { content, details } = fieldsOf(update)
    const text = contentText(content)
    const more = added(said, text)
    said = text
    wire.send({ type: "tool_update", id: call.id, content: more, ...(isFields(details) ? { details: plain(details) } : {}) })
  }
  try {
    const id = textOf(message["tool_call_id"]) || call.id
    return resultOf(await Reflect.apply(tool.execute, tool.fields, [id, message["arguments"], call.signal, onUpdate, context]))
  } catch (error) {
    return { content: error instanceof Error && error.message !== "" ? error.message : String(error), is_error: true }
  } finally {
    over = true
  }
}

/** Lets a tool change the model's arguments before they are validated. */
export const prepare = ({ registry }: Session, message: Fields): Fields => {
  const prepareArguments = registry.tools.get(textOf(message["name"]))?.fields["prepareArguments"]
  if (!isCallback(prepareArguments)) return {}
  try {
    return { arguments: plain(prepareArguments(message["arguments"])) }
  } catch (error) {
    return { failed: messageOf(error) }
  }
}

/** Runs a command. */
export const runCommand = async ({ registry, saying }: Session, context: object, message: Fields): Promise<Fields> => {
  const command = registry.commands.get(textOf(message["name"]))
  if (command === undefined) return { failed: `there is no command ${textOf(message["name"])}` }
  try {
    await command.handler(textOf(message["arguments"]), context)
    await Promise.allSettled(saying)
    return {}
  } catch (error) {
    return { failed: messageOf(error) }
  }
}

/** Calls a function by its number. */
export const invoke = async ({ registry }: Session, message: Fields): Promise<Fields> => {
  const callback = registry.handled(message["handle"])
  if (callback === undefined) return { failed: "there is no such function" }
  try {
    const value = plain(await callback(...listOf(message["arguments"])))
    return value === undefined ? {} : { value }
  } catch (error) {
    return { failed: messageOf(error) }
  }
}
