/** OpenAI Chat Completions (`POST /v1/chat/completions`) as the stub speaks it; thinking as compatible servers send it. */
import { pieces } from "./Scenario.ts"
import {
  type Answer, base64At, bearer, type Frame, frame, type Headers, type Json, listAt, numberAt, objectAt, onceOnly, refuse, stringAt, textAt,
  toolNameAt, type Wire
} from "./Wire.ts"

/** OpenAI's error body, for both of its APIs. */
export const openaiFailure = (status: number, message: string): Json => ({
  error: {
    message,
    type: status === 429 ? "requests" : status >= 500 ? "server_error" : "invalid_request_error",
    param: null,
    code: status === 401 ? "invalid_api_key" : status === 429 ? "rate_limit_exceeded" : null
  }
})

/** What both OpenAI APIs want of every request. */
export const checkOpenai = (body: Json, headers: Headers): void => {
  if (bearer(headers) === undefined) refuse("no API key: an Authorization header with a Bearer token is required", 401)
  stringAt(body["model"], "model")
  numberAt(body["temperature"], "temperature", 0, 2)
}

/** An image part's address: a web address, or a data URL with base64. */
export const checkImageUrl = (value: unknown, at: string): void => {
  const url = stringAt(value, at)
  if (/^https?:/.test(url)) return
  const data = /^data:(?:image\/(?:png|jpeg|gif|webp)|application\/pdf);base64,(.*)$/s.exec(url)
  if (data === null) refuse(`${at}: a web address or a base64 data URL is expected`)
  base64At(data[1], at)
}

/** Arguments of a tool call: the text of a JSON object. */
export const checkArguments = (value: unknown, at: string): void => {
  if (typeof value !== "string") refuse(`${at}: a string is expected`)
  let parsed: unknown
  try {
    parsed = JSON.parse(value)
  } catch {
    refuse(`${at}: this is no JSON`)
  }
  objectAt(parsed, at)
}

const checkContent = (content: unknown, at: string, empty: boolean): void => {
  if (typeof content === "string") return empty ? undefined : void textAt(content, at)
  for (const [k, item] of listAt(content, at).entries()) {
    const part = objectAt(item, `${at}.${k}`)
    if (part["type"] === "text") textAt(part["text"], `${at}.${k}.text`)
    else if (part["type"] === "image_url") checkImageUrl(objectAt(part["image_url"], `${at}.${k}.image_url`)["url"], `${at}.${k}.image_url.url`)
    else if (part["type"] !== "file" && part["type"] !== "input_audio") refuse(`${at}.${k}.type: ${String(part["type"])} is not known`)
  }
}

/** Checks the conversation: every tool call answered by the messages right after it, each id once, nothing empty. */
const checkMessages = (messages: ReadonlyArray<unknown>): void => {
  const once = onceOnly("tool call ids")
  let open = new Set<string>()
  for (const [n, item] of messages.entries()) {
    const at = `messages[${n}]`
    const message = objectAt(item, at)
    const { role } = message
    if (role === "tool") {
      const id = stringAt(message["tool_call_id"], `${at}.tool_call_id`)
      if (!open.delete(id)) refuse(`${at}: a tool message must answer a tool call right before it, ${id} answers none`)
      checkContent(message["content"], `${at}.content`, true)
      continue
    }
    if (open.size > 0) refuse(`${at}: tool calls before it have no tool message: ${[...open].join(", ")}`)
    if (role === "assistant") {
      const calls = message["tool_calls"]
      if (calls !== undefined) {
        for (const [k, value] of listAt(calls, `${at}.tool_calls`).entries()) {
          const where = `${at}.tool_calls[${k}]`
          const call = objectAt(value, where)
          open.add(once(stringAt(call["id"], `${where}.id`), `${where}.id`))
          if (call["type"] !== "function") refuse(`${where}.type: function is expected`)
          const called = objectAt(call["function"], `${where}.function`)
          toolNameAt(called["name"], `${where}.function.name`, 64)
          checkArguments(called["arguments"], `${where}.function.arguments`)
        }
      }
      if (calls === undefined || message["content"] !== null && message["content"] !== undefined) {
        checkContent(message["content"], `${at}.content`, calls !== undefined)
      }
      continue
    }
    if (role !== "system" && role !== "developer" && role !== "user") refuse(`${at}.role: ${String(role)} is not known`)
    checkContent(message["content"], `${at}.content`, false)
  }
  if (open.size > 0) refuse(`messages: tool calls have no tool message: ${[...open].join(", ")}`)
  const last = objectAt(messages.at(-1), "messages")["role"]
  if (last !== "user" && last !== "tool") refuse("messages: the last message must be the user's or a tool's")
}

const check = (body: Json, headers: Headers): void => {
  checkOpenai(body, headers)
  if (body["tools"] !== undefined) {
    const once = onceOnly("tool names")
    for (const [k, item] of listAt(body["tools"], "tools").entries()) {
      const tool = objectAt(item, `tools[${k}]`)
      if (tool["type"] !== "function") refuse(`tools[${k}].type: function is expected`)
      const offered = objectAt(tool["function"], `tools[${k}].function`)
      once(toolNameAt(offered["name"], `tools[${k}].function.name`, 64), `tools[${k}].function.name`)
      if (offered["parameters"] !== undefined) objectAt(offered["parameters"], `tools[${k}].function.parameters`)
    }
  } else if (body["tool_choice"] !== undefined) refuse("tool_choice: there are no tools to choose from")
  if (body["stream_options"] !== undefined && body["stream"] !== true) refuse("stream_options: only for a streamed answer")
  checkMessages(listAt(body["messages"], "messages"))
}

const finishReason = (answer: Answer): string =>
  answer.finish === "length" ? "length" : answer.finish === "filter" ? "content_filter" : answer.tools.length > 0 ? "tool_calls" : "stop"

const usageOf = ({ usage }: Answer) => {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
    completion_tokens_details: { reasoning_tokens: 0 }
  }
}

const envelope = (answer: Answer, body: Json, object: string) => ({ id: `chatcmpl-${answer.serial}`, object, created: 1_700_000_000, model: body["model"] })

function* frames(answer: Answer, body: Json): Generator<Frame> {
  const head = envelope(answer, body, "chat.completion.chunk")
  const chunk = (delta: Json, finish_reason: string | null = null, text?: string) =>
    frame({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason }] }, undefined, text)
  yield chunk({ role: "assistant", content: "" })
  for (const reasoning_content of pieces(answer.thinking, 8)) yield chunk({ reasoning_content })
  for (const content of answer.text) yield chunk({ content }, null, content)
  for (const [index, { args, id, name }] of answer.tools.entries()) {
    yield chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] })
    for (const piece of pieces(args, 16)) yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] })
  }
  yield chunk({}, finishReason(answer))
  const options = body["stream_options"] === undefined ? {} : objectAt(body["stream_options"], "stream_options")
  if (options["include_usage"] === true) yield frame({ ...head, choices: [], usage: usageOf(answer) })
  yield frame("[DONE]")
}

export const chatWire: Wire = {
  api: "openai-chat",
  path: "/v1/chat/completions",
  toolPrefix: "call_",
  check,
  frames,
  whole: (answer, body) => ({
    ...envelope(answer, body, "chat.completion"),
    choices: [{
      index: 0,
      message: {
        role: "assistant",
        content: answer.text.length === 0 ? null : answer.text.join(""),
        ...(answer.thinking === "" ? {} : { reasoning_content: answer.thinking }),
        ...(answer.tools.length === 0
          ? {}
          : { tool_calls: answer.tools.map(({ args, id, name }) => ({ id, type: "function", function: { name, arguments: args } })) })
      },
      finish_reason: finishReason(answer)
    }],
    usage: usageOf(answer)
  }),
  failure: openaiFailure,
  failureFrame: (message) => frame(openaiFailure(500, message))
}
