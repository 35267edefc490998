/** Extensions made with `@nimlet/sdk`: they speak the protocol themselves, and need their lines passed on, nothing else. */
import type { Pulse } from "./Pulse.ts"
import { type Callback, type Fields, fieldsOf, isCallback, isFields, textOf } from "./Values.ts"
import type { Wire } from "./Wire.ts"

/** The SDK's own name for it; its text is the whole agreement, so that neither loads the other. */
const mark = Symbol.for("@nimlet/sdk/Extension")

/** What begins a life of the extension that a module exports; undefined when it is none of the SDK's. */
export const faceOf = (exported: unknown): Callback | undefined => {
  const face: unknown = isFields(exported) ? Reflect.get(exported, mark) : undefined
  return isCallback(face) ? face : undefined
}

const doing = (message: Fields): string | undefined => {
  switch (message["type"]) {
    case "event":
      return `on ${textOf(message["event"])}`
    case "tool":
      return `in tool ${textOf(message["name"])}`
    case "command":
      return `in command /${textOf(message["name"])}`
    default:
      return undefined
  }
}

/** Begins a life; gives what takes the host's messages. */
export const speak = (face: Callback, wire: Wire, pulse: Pulse): (message: Fields) => void => {
  wire.passesAnswers = true
  const hear = face((line: unknown) => {
    const fields = fieldsOf(line)
    if (fields["type"] === "response") pulse.begin("")
    wire.send(fields)
  })
  if (!isCallback(hear)) throw new TypeError("the extension was made by another version of @nimlet/sdk")
  return (message) => {
    const what = doing(message)
    if (what !== undefined) pulse.begin(what)
    hear(message)
  }
}
