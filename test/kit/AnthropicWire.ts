/** Anthropic Messages (`POST /v1/messages`) as the stub speaks it. */
import { createHash } from "node:crypto"
import { pieces } from "./Scenario.ts"
import {
  type Answer, base64At, bearer, type Frame, frame, type Headers, type Json, listAt, numberAt, objectAt, onceOnly, refuse, stringAt, textAt,
  toolNameAt, type Wire
} from "./Wire.ts"

/** The signature the stub puts under a thinking block, and wants back unchanged. */
export const signatureOf = (thinking: string): string => createHash("sha256").update(thinking).digest("base64")

const checkImage = (block: Json, at: string): void => {
  const source = objectAt(block["source"], `${at}.source`)
  if (source["type"] === "url") return void stringAt(source["url"], `${at}.source.url`)
  if (source["type"] !== "base64") refuse(`${at}.source.type: base64 or url is expected`)
  if (!/^image\/(png|jpeg|gif|webp)$|^application\/pdf$/.test(stringAt(source["media_type"], `${at}.source.media_type`))) {
    refuse(`${at}.source.media_type: ${String(source["media_type"])} is not supported`)
  }
  base64At(source["data"], `${at}.source.data`)
}

const checkResultContent = (content: unknown, at: string): void => {
  if (content === undefined || typeof content === "string") return
  for (const [k, item] of listAt(content, at).entries()) {
    const block = objectAt(item, `${at}.${k}`)
    if (block["type"] === "text") textAt(block["text"], `${at}.${k}.text`)
    else if (block["type"] === "image") checkImage(block, `${at}.${k}`)
    else refuse(`${at}.${k}.type: text or image is expected in a tool result`)
  }
}

const checkThinking = (block: Json, at: string): void => {
  const thinking = block["thinking"]
  if (typeof thinking !== "string") refuse(`${at}.thinking: a string is expected`)
  if (stringAt(block["signature"], `${at}.signature`) !== signatureOf(thinking)) {
    refuse(`${at}: thinking must come back as it was given, with its signature`)
  }
}

/** Checks the conversation: roles in turn, every tool use answered by the very next message, each id once. */
const checkMessages = (messages: ReadonlyArray<unknown>): void => {
  const once = onceOnly("tool_use ids")
  let open: ReadonlySet<string> = new Set()
  for (const [n, item] of messages.entries()) {
    const at = `messages.${n}`
    const message = objectAt(item, at)
    const role = message["role"]
    const expected = n % 2 === 0 ? "user" : "assistant"
    if (role !== "user" && role !== "assistant") refuse(`${at}.role: user or assistant is expected`)
    if (role !== expected) refuse(n === 0 ? "messages: the first message must be the user's" : `${at}.role: roles must alternate, ${expected} is expected`)
    const uses = new Set<string>()
    const results = new Set<string>()
    const blocks = typeof message["content"] === "string"
      ? [{ type: "text", text: message["content"] }]
      : listAt(message["content"], `${at}.content`)
    let other = false
    for (const [k, value] of blocks.entries()) {
      const where = `${at}.content.${k}`
      const block = objectAt(value, where)
      const type = block["type"]
      const mine = type === "tool_use" || type === "thinking" || type === "redacted_thinking"
      if (mine && role !== "assistant") refuse(`${where}.type: ${type} belongs to the assistant`)
      if ((type === "tool_result" || type === "image" || type === "document") && role !== "user") refuse(`${where}.type: ${type} belongs to the user`)
      switch (type) {
        case "text":
          textAt(block["text"], `${where}.text`)
          other = true
          break
        case "image":
        case "document":
          checkImage(block, where)
          other = true
          break
        case "thinking":
          checkThinking(block, where)
          break
        case "redacted_thinking":
          stringAt(block["data"], `${where}.data`)
          break
        case "tool_use": {
          uses.add(once(toolNameAt(block["id"], `${where}.id`, 256), `${where}.id`))
          toolNameAt(block["name"], `${where}.name`, 128)
          objectAt(block["input"], `${where}.input`)
          break
        }
        case "tool_result": {
          const id = stringAt(block["tool_use_id"], `${where}.tool_use_id`)
          if (!open.has(id)) refuse(`${where}: tool_result ${id} has no tool_use in the message before`)
          if (results.has(id)) refuse(`${where}: tool_result ${id} is given twice`)
          if (other) refuse(`${where}: tool results come before anything else in their message`)
          results.add(id)
          checkResultContent(block["content"], `${where}.content`)
          break
        }
        default:
          refuse(`${where}.type: ${String(type)} is not known`)
      }
    }
    const missing = [...open].filter((id) => !results.has(id))
    if (missing.length > 0) refuse(`${at}: tool_use without a tool_result right after it: ${missing.join(", ")}`)
    open = uses
  }
  if (open.size > 0) refuse(`messages: tool_use without a tool_result right after it: ${[...open].join(", ")}`)
  if (messages.length % 2 === 0) refuse("messages: the last message must be the user's")
}

const countCacheMarks = (value: unknown): number => {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countCacheMarks(item), 0)
  if (typeof value !== "object" || value === null) return 0
  return Object.entries(value).reduce((sum, [key, item]) => key === "input" ? sum : sum + (key === "cache_control" ? 1 : countCacheMarks(item)), 0)
}

const check = (body: Json, headers: Headers): void => {
  if ((headers["x-api-key"] ?? "") === "" && bearer(headers) === undefined) refuse("x-api-key: the header is missing", 401)
  if ((headers["anthropic-version"] ?? "") === "") refuse("anthropic-version: the header is missing")
  stringAt(body["model"], "model")
  const limit = body["max_tokens"]
  if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 1) refuse("max_tokens: a whole number above 0 is required")
  numberAt(body["temperature"], "temperature", 0, 1)
  if (Array.isArray(body["system"])) {
    for (const [k, block] of body["system"].entries()) textAt(objectAt(block, `system.${k}`)["text"], `system.${k}.text`)
  } else if (body["system"] !== undefined) textAt(body["system"], "system")
  const tools = onceOnly("tool names")
  if (body["tools"] !== undefined) {
    for (const [k, item] of listAt(body["tools"], "tools").entries()) {
      const tool = objectAt(item, `tools.${k}`)
      tools(toolNameAt(tool["name"], `tools.${k}.name`, 128), `tools.${k}.name`)
      if (objectAt(tool["input_schema"], `tools.${k}.input_schema`)["type"] !== "object") refuse(`tools.${k}.input_schema.type: object is expected`)
    }
  } else if (body["tool_choice"] !== undefined) refuse("tool_choice: there are no tools to choose from")
  const thinking = body["thinking"] === undefined ? {} : objectAt(body["thinking"], "thinking")
  if (thinking["type"] === "enabled") {
    const budget = thinking["budget_tokens"]
    if (typeof budget !== "number" || budget < 1024) refuse("thinking.budget_tokens: at least 1024 are required")
    if (budget >= limit) refuse("max_tokens: it must be above thinking.budget_tokens")
  }
  checkMessages(listAt(body["messages"], "messages"))
  const marks = countCacheMarks([body["system"], body["tools"], body["messages"]])
  if (marks > 4) refuse(`cache_control: at most 4 blocks may have it, there are ${marks}`)
}

const kinds: Readonly<Record<number, string>> = {
  400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error", 413: "request_too_large",
  429: "rate_limit_error", 529: "overloaded_error"
}

const stopReason = (answer: Answer): string =>
  answer.finish === "length" ? "max_tokens" : answer.finish === "filter" ? "refusal" : answer.tools.length > 0 ? "tool_use" : "end_turn"

const usageOf = (answer: Answer) => ({
  input_tokens: answer.usage.input,
  cache_creation_input_tokens: answer.usage.cacheWrite,
  cache_read_input_tokens: answer.usage.cacheRead,
  output_tokens: answer.usage.output
})

const envelope = (answer: Answer, body: Json) => ({ id: `msg_${answer.serial}`, type: "message", role: "assistant", model: body["model"], stop_sequence: null })

function* frames(answer: Answer, body: Json): Generator<Frame> {
  const event = (data: Json & { readonly type: string }, text?: string) => frame(data, data.type, text)
  const usage = usageOf(answer)
  yield event({ type: "message_start", message: { ...envelope(answer, body), content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } } })
  yield event({ type: "ping" })
  let index = 0
  const delta = (delta: Json, text?: string) => event({ type: "content_block_delta", index, delta }, text)
  if (answer.thinking !== "") {
    yield event({ type: "content_block_start", index, content_block: { type: "thinking", thinking: "", signature: "" } })
    for (const thinking of pieces(answer.thinking, 8)) yield delta({ type: "thinking_delta", thinking })
    yield delta({ type: "signature_delta", signature: signatureOf(answer.thinking) })
    yield event({ type: "content_block_stop", index })
    index++
  }
  if (answer.text.length > 0) {
    yield event({ type: "content_block_start", index, content_block: { type: "text", text: "" } })
    for (const text of answer.text) yield delta({ type: "text_delta", text }, text)
    yield event({ type: "content_block_stop", index })
    index++
  }
  for (const { args, id, name } of answer.tools) {
    yield event({ type: "content_block_start", index, content_block: { type: "tool_use", id, name, input: {} } })
    for (const partial_json of ["", ...pieces(args, 16)]) yield delta({ type: "input_json_delta", partial_json })
    yield event({ type: "content_block_stop", index })
    index++
  }
  yield event({ type: "message_delta", delta: { stop_reason: stopReason(answer), stop_sequence: null }, usage })
  yield event({ type: "message_stop" })
}

const failure = (status: number, message: string): Json => ({ type: "error", error: { type: kinds[status] ?? "api_error", message }, request_id: "req_stub" })

export const anthropicWire: Wire = {
  api: "anthropic",
  path: "/v1/messages",
  toolPrefix: "toolu_",
  check,
  frames,
  whole: (answer, body) => ({
    ...envelope(answer, body),
    content: [
      ...(answer.thinking === "" ? [] : [{ type: "thinking", thinking: answer.thinking, signature: signatureOf(answer.thinking) }]),
      ...(answer.text.length === 0 ? [] : [{ type: "text", text: answer.text.join("") }]),
      ...answer.tools.map(({ args, id, name }) => ({ type: "tool_use", id, name, input: JSON.parse(args) as unknown }))
    ],
    stop_reason: stopReason(answer),
    usage: usageOf(answer)
  }),
  failure,
  failureFrame: (message) => frame(failure(529, message), "error")
}
