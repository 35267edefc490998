/** What stands behind `@earendil-works/pi-ai` and its twins. Models are asked by the host (`ctx.modelRegistry.complete`). */
import { absent, absentClass } from "../Absent.ts"
import { isFields, listOf, textOf } from "../Values.ts"

export { Type } from "typebox"
export { StringEnum } from "../StructuredOutput.ts"

/** An id whose order is that of time. */
export const uuidv7 = (): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  let time = Date.now()
  for (let at = 5; at >= 0; at--) {
    bytes[at] = time % 256
    time = Math.floor(time / 256)
  }
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-")
}

/** The system text of a list of messages. */
export const getCurrentSystemPrompt = (messages: unknown): string =>
  textOf(listOf(messages).filter(isFields).findLast(({ role }) => role === "system")?.["content"])
/** The messages without system text. */
export const collapseSystemMessages = (messages: unknown) => listOf(messages).filter((message) => isFields(message) && message["role"] !== "system")
/** The tools of a list of messages. */
export const getCurrentTools = (): ReadonlyArray<unknown> => []
/** Cost of an answer; prices are the host's. */
export const calculateCost = (): object => ({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 })

/** Asks a model; use `ctx.modelRegistry.complete`. */
export const complete = absent("complete of pi-ai")
/** Streams an answer. */
export const stream = absent("stream of pi-ai")
/** Streams an answer. */
export const streamSimple = absent("streamSimple of pi-ai")
/** A model of the catalogue; use `ctx.modelRegistry.find`. */
export const getModel = absent("getModel of pi-ai")
/** Adds a protocol. */
export const registerApiProvider = absent("registerApiProvider of pi-ai")
/** A protocol. */
export const anthropicMessagesApi = absent("anthropicMessagesApi of pi-ai")
/** A protocol. */
export const openAIResponsesApi = absent("openAIResponsesApi of pi-ai")
/** A stream of answers. */
export const createAssistantMessageEventStream = absent("createAssistantMessageEventStream of pi-ai")
/** A stream of arguments. */
export const ToolCallArgumentsStream = absentClass("ToolCallArgumentsStream of pi-ai")
