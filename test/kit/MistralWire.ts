/** Mistral's chat completions (`POST /mistral/v1/chat/completions` here, beside OpenAI's) as the stub speaks them: calls come whole, ids have nine letters. */
import { chatWire, checkOpenai } from "./ChatWire.ts"
import { pieces } from "./Scenario.ts"
import { type Answer, type Frame, frame, type Json, listAt, objectAt, refuse, type Wire } from "./Wire.ts"

const failure = (status: number, message: string): Json => ({ object: "error", message, type: status === 429 ? "rate_limited" : "invalid_request_error", param: null, code: String(status) })

const usageOf = ({ usage }: Answer) => {
  const prompt_tokens = usage.input + usage.cacheRead + usage.cacheWrite
  return { prompt_tokens, completion_tokens: usage.output, total_tokens: prompt_tokens + usage.output, ...(usage.cacheRead === 0 ? {} : { prompt_tokens_details: { cached_tokens: usage.cacheRead } }) }
}

const finishReason = (answer: Answer): string => answer.finish === "length" ? "length" : answer.tools.length > 0 ? "tool_calls" : "stop"

const callsOf = (answer: Answer): ReadonlyArray<Json> =>
  answer.tools.map(({ args, id, name }, index) => ({ index, id: shortId(id), type: "function", function: { name, arguments: args } }))

/** Nine letters and digits, as the service makes its ids; one given by a scenario goes out as it is. */
const shortId = (id: string): string => id.startsWith("mis_") ? Buffer.from(id).toString("hex").slice(-9) : id

const envelope = (answer: Answer, body: Json, object: string) => ({ id: `cmpl-${answer.serial}`, object, created: 1_700_000_000, model: body["model"] })

function* frames(answer: Answer, body: Json): Generator<Frame> {
  const chunk = (delta: Json, finish_reason: string | null = null, text?: string) =>
    frame({ ...envelope(answer, body, "chat.completion.chunk"), choices: [{ index: 0, delta, finish_reason }], ...(finish_reason === null ? {} : { usage: usageOf(answer) }) }, undefined, text)
  yield chunk({ role: "assistant", content: "" })
  for (const text of pieces(answer.thinking, 8)) yield chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text }] }] })
  for (const content of answer.text) yield chunk({ content }, null, content)
  for (const call of callsOf(answer)) yield chunk({ tool_calls: [call] })
  yield chunk({ content: "" }, finishReason(answer))
  yield frame("[DONE]")
}

/** What Mistral wants beyond OpenAI's rules: its short ids, thinking and images in its own shapes. */
const checkMistral = (messages: ReadonlyArray<unknown>): ReadonlyArray<Json> =>
  messages.map((value, n) => {
    const message = objectAt(value, `messages[${n}]`)
    const ids = [message["tool_call_id"], ...(Array.isArray(message["tool_calls"]) ? message["tool_calls"].map((call) => objectAt(call, "tool_calls")["id"]) : [])]
    for (const id of ids) if (id !== undefined && !/^[A-Za-z0-9]{9}$/.test(String(id))) refuse(`messages[${n}]: tool call id was ${String(id)} but must be a-z, A-Z, 0-9, with a length of 9`)
    if (!Array.isArray(message["content"])) return message
    const content = message["content"].flatMap((item): ReadonlyArray<Json> => {
      const part = objectAt(item, `messages[${n}].content`)
      if (part["type"] === "thinking") {
        listAt(part["thinking"], `messages[${n}].content.thinking`)
        return []
      }
      return [part["type"] === "image_url" && typeof part["image_url"] === "string" ? { type: "image_url", image_url: { url: part["image_url"] } } : part]
    })
    return content.length === 0 && message["tool_calls"] !== undefined ? { ...message, content: null } : { ...message, content }
  })

export const mistralWire: Wire = {
  api: "mistral",
  path: "/mistral/v1/chat/completions",
  toolPrefix: "mis_",
  check: (body, headers) => {
    checkOpenai(body, headers)
    if (body["stream_options"] !== undefined) refuse("stream_options: extra inputs are not permitted")
    chatWire.check({ ...body, messages: checkMistral(listAt(body["messages"], "messages")) }, headers)
  },
  frames,
  whole: (answer, body) => ({
    ...envelope(answer, body, "chat.completion"),
    choices: [{
      index: 0,
      message: { role: "assistant", content: answer.text.join(""), ...(answer.tools.length === 0 ? {} : { tool_calls: callsOf(answer) }) },
      finish_reason: finishReason(answer)
    }],
    usage: usageOf(answer)
  }),
  failure,
  failureFrame: (message) => frame(failure(503, message))
}
