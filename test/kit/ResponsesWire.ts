/**
 * OpenAI Responses (`POST /v1/responses`) as the stub speaks it. It remembers the items it gave, as the service does: a
 * later request may name a stored one, and may not send an item without the reasoning it came with.
 */
import { checkArguments, checkImageUrl, checkOpenai, openaiFailure } from "./ChatWire.ts"
import { pieces } from "./Scenario.ts"
import {
  type Answer, type Frame, frame, type Headers, type Json, listAt, numberAt, objectAt, onceOnly, refuse, stringAt, textAt, toolNameAt, type Wire
} from "./Wire.ts"

interface Given {
  readonly item: Json
  readonly stored: boolean
  /** The reasoning item it has to be accompanied by. */
  readonly reasoning: string | undefined
}

const checkContent = (content: unknown, role: string, at: string): void => {
  if (typeof content === "string") return void textAt(content, at)
  for (const [k, item] of listAt(content, at).entries()) {
    const part = objectAt(item, `${at}[${k}]`)
    const { type } = part
    if (role === "assistant" ? type === "output_text" : type === "input_text") textAt(part["text"], `${at}[${k}].text`)
    else if (role === "assistant" && type === "refusal") textAt(part["refusal"], `${at}[${k}].refusal`)
    else if (role === "user" && type === "input_image") checkImageUrl(part["image_url"], `${at}[${k}].image_url`)
    else if (role !== "user" || type !== "input_file") refuse(`${at}[${k}].type: ${String(type)} does not belong to role ${role}`)
  }
}

const checkOutput = (output: unknown, at: string): void => {
  if (typeof output === "string") return
  checkContent(output, "user", at)
}

/** Checks the items in order: each call answered before the next message, each id once, reasoning never alone. */
const checkInput = (input: ReadonlyArray<unknown>, given: ReadonlyMap<string, Given>, store: boolean): void => {
  const once = onceOnly("call ids")
  const open = new Set<string>()
  const present = new Set<string>()
  let alone: string | undefined
  for (const [n, value] of input.entries()) {
    const at = `input[${n}]`
    let item = objectAt(value, at)
    if (item["type"] === "item_reference") {
      const known = given.get(stringAt(item["id"], `${at}.id`))
      if (known?.stored !== true) refuse(`${at}: no item ${String(item["id"])} is stored`, 404)
      item = known.item
    }
    const { id, role } = item
    const type = item["type"] ?? (role === undefined ? undefined : "message")
    if (typeof id === "string") {
      const needs = given.get(id)?.reasoning
      if (needs !== undefined && !present.has(needs)) refuse(`${at}: item ${id} is given without its reasoning item ${needs}`)
      present.add(id)
    }
    if (alone !== undefined && (type !== "message" || role !== "assistant") && type !== "function_call" && type !== "custom_tool_call" && type !== "reasoning") {
      refuse(`${at}: reasoning item ${alone} is given without the item that followed it`)
    }
    if (type !== "reasoning") alone = undefined
    switch (type) {
      case "message": {
        if (role !== "user" && role !== "assistant" && role !== "system" && role !== "developer") refuse(`${at}.role: ${String(role)} is not known`)
        if (open.size > 0) refuse(`${at}: no tool output for function call ${[...open].join(", ")}`)
        checkContent(item["content"], role, `${at}.content`)
        break
      }
      case "function_call": {
        open.add(once(stringAt(item["call_id"], `${at}.call_id`), `${at}.call_id`))
        toolNameAt(item["name"], `${at}.name`, 64)
        checkArguments(item["arguments"], `${at}.arguments`)
        break
      }
      case "custom_tool_call": {
        open.add(once(stringAt(item["call_id"], `${at}.call_id`), `${at}.call_id`))
        toolNameAt(item["name"], `${at}.name`, 64)
        if (typeof item["input"] !== "string") refuse(`${at}.input: a text is expected`)
        break
      }
      case "custom_tool_call_output":
      case "function_call_output": {
        const call = stringAt(item["call_id"], `${at}.call_id`)
        if (!open.delete(call)) refuse(`${at}: no function call for the output of ${call}`)
        checkOutput(item["output"], `${at}.output`)
        break
      }
      case "reasoning": {
        alone = stringAt(id, `${at}.id`)
        if (!Array.isArray(item["summary"])) refuse(`${at}.summary: a list is expected`)
        if (!store && typeof item["encrypted_content"] !== "string") refuse(`${at}: nothing is stored, so encrypted_content is needed`, 404)
        break
      }
      default:
        refuse(`${at}.type: ${String(type)} is not known`)
    }
  }
  if (open.size > 0) refuse(`input: no tool output for function call ${[...open].join(", ")}`)
  if (alone !== undefined) refuse(`input: reasoning item ${alone} is given without the item that followed it`)
  const last = objectAt(input.at(-1), "input")
  if (last["role"] === "assistant") refuse("input: the last item must be the user's or a tool's output")
}

/** Whether a tool of the request was given with a format in place of a schema. */
const isCustom = (body: Json, name: string): boolean => {
  const tools: unknown = body["tools"]
  return Array.isArray(tools) && tools.some((tool) => objectAt(tool, "tools")["type"] === "custom" && objectAt(tool, "tools")["name"] === name)
}

/** What OpenAI takes of a strict schema: every object closed, and all of it required. */
const checkStrict = (schema: Json, at: string): void => {
  if (schema["type"] !== "object") return
  if (schema["additionalProperties"] !== false) refuse(`${at}: 'additionalProperties' is required to be supplied and to be false`)
  const required: ReadonlyArray<unknown> = Array.isArray(schema["required"]) ? schema["required"] : []
  for (const [name, inner] of Object.entries(objectAt(schema["properties"], `${at}.properties`))) {
    if (!required.includes(name)) refuse(`${at}: 'required' must hold every key in properties, '${name}' is missing`)
    checkStrict(objectAt(inner, `${at}.properties.${name}`), `${at}.properties.${name}`)
  }
}

const itemsOf = (answer: Answer, body: Json): ReadonlyArray<Json> => {
  const include = Array.isArray(body["include"]) ? body["include"] : []
  return [
    ...(answer.thinking === "" ? [] : [{
      type: "reasoning",
      id: `rs_${answer.serial}`,
      summary: [{ type: "summary_text", text: answer.thinking }],
      ...(include.includes("reasoning.encrypted_content") ? { encrypted_content: Buffer.from(answer.thinking).toString("base64") } : {})
    }]),
    ...(answer.text.length === 0 ? [] : [{
      type: "message",
      id: `msg_${answer.serial}`,
      status: "completed",
      role: "assistant",
      content: [{ type: "output_text", text: answer.text.join(""), annotations: [], logprobs: [] }]
    }]),
    ...answer.tools.map(({ args, id, name }, k) => isCustom(body, name) ? ({ type: "custom_tool_call", id: `ctc_${answer.serial}_${k}`, status: "completed", call_id: id, name, input: args }) : ({ type: "function_call", id: `fc_${answer.serial}_${k}`, status: "completed", call_id: id, name, arguments: args }))
  ]
}

const responseOf = (answer: Answer, body: Json, output: ReadonlyArray<Json> | undefined): Json => {
  const { usage } = answer
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  const ended = output !== undefined
  return {
    id: `resp_${answer.serial}`, object: "response", created_at: 1_700_000_000, model: body["model"], output: output ?? [],
    status: !ended ? "in_progress" : answer.finish === "stop" ? "completed" : "incomplete",
    error: null, incomplete_details: !ended || answer.finish === "stop" ? null : { reason: answer.finish === "length" ? "max_output_tokens" : "content_filter" },
    instructions: body["instructions"] ?? null, metadata: {}, parallel_tool_calls: true, tool_choice: "auto", tools: [], temperature: 1, top_p: 1,
    usage: !ended ? null : {
      input_tokens: prompt, input_tokens_details: { cached_tokens: usage.cacheRead },
      output_tokens: usage.output, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: prompt + usage.output
    }
  }
}

function* framesOf(answer: Answer, body: Json, items: ReadonlyArray<Json>): Generator<Frame> {
  let sequence_number = 0
  const event = (type: string, data: Json, text?: string) => frame({ type, sequence_number: sequence_number++, ...data }, type, text)
  yield event("response.created", { response: responseOf(answer, body, undefined) })
  yield event("response.in_progress", { response: responseOf(answer, body, undefined) })
  for (const [output_index, item] of items.entries()) {
    const at = { item_id: item["id"], output_index }
    if (item["type"] === "reasoning") {
      const place = { ...at, summary_index: 0 }
      yield event("response.output_item.added", { output_index, item: { ...item, summary: [] } })
      yield event("response.reasoning_summary_part.added", { ...place, part: { type: "summary_text", text: "" } })
      for (const delta of pieces(answer.thinking, 8)) yield event("response.reasoning_summary_text.delta", { ...place, delta })
      yield event("response.reasoning_summary_text.done", { ...place, text: answer.thinking })
      yield event("response.reasoning_summary_part.done", { ...place, part: { type: "summary_text", text: answer.thinking } })
    } else if (item["type"] === "message") {
      const place = { ...at, content_index: 0 }
      const part = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] })
      const text = answer.text.join("")
      yield event("response.output_item.added", { output_index, item: { ...item, status: "in_progress", content: [] } })
      yield event("response.content_part.added", { ...place, part: part("") })
      for (const delta of answer.text) yield event("response.output_text.delta", { ...place, delta, logprobs: [] }, delta)
      yield event("response.output_text.done", { ...place, text, logprobs: [] })
      yield event("response.content_part.done", { ...place, part: part(text) })
    } else if (item["type"] === "custom_tool_call") {
      yield event("response.output_item.added", { output_index, item: { ...item, status: "in_progress", input: "" } })
      for (const delta of pieces(String(item["input"]), 16)) yield event("response.custom_tool_call_input.delta", { ...at, delta })
      yield event("response.custom_tool_call_input.done", { ...at, input: item["input"] })
    } else {
      yield event("response.output_item.added", { output_index, item: { ...item, status: "in_progress", arguments: "" } })
      for (const delta of pieces(String(item["arguments"]), 16)) yield event("response.function_call_arguments.delta", { ...at, delta })
      yield event("response.function_call_arguments.done", { ...at, name: item["name"], arguments: item["arguments"] })
    }
    yield event("response.output_item.done", { output_index, item })
  }
  yield event(answer.finish === "stop" ? "response.completed" : "response.incomplete", { response: responseOf(answer, body, items) })
}

/** A fresh endpoint with its own memory of the items it gave. */
export const makeResponsesWire = (): Wire => {
  const given = new Map<string, Given>()
  const give = (answer: Answer, body: Json): ReadonlyArray<Json> => {
    const items = itemsOf(answer, body)
    const reasoning = answer.thinking === "" ? undefined : `rs_${answer.serial}`
    for (const item of items) {
      given.set(String(item["id"]), { item, stored: body["store"] !== false, reasoning: item["type"] === "reasoning" ? undefined : reasoning })
    }
    return items
  }
  const check = (body: Json, headers: Headers): void => {
    checkOpenai(body, headers)
    numberAt(body["max_output_tokens"], "max_output_tokens", 16)
    if (body["previous_response_id"] !== undefined && body["previous_response_id"] !== null) refuse("previous_response_id: this stub keeps no conversations")
    if (body["tools"] !== undefined) {
      const once = onceOnly("tool names")
      for (const [k, item] of listAt(body["tools"], "tools").entries()) {
        const tool = objectAt(item, `tools[${k}]`)
        once(toolNameAt(tool["name"], `tools[${k}].name`, 64), `tools[${k}].name`)
        if (tool["type"] === "custom") {
          const format = objectAt(tool["format"], `tools[${k}].format`)
          if (format["syntax"] !== "lark" && format["syntax"] !== "regex") refuse(`tools[${k}].format.syntax: lark or regex is expected`)
          stringAt(format["definition"], `tools[${k}].format.definition`)
          continue
        }
        if (tool["type"] !== "function") refuse(`tools[${k}].type: function or custom is expected`)
        const parameters = objectAt(tool["parameters"], `tools[${k}].parameters`)
        if (tool["strict"] === true) checkStrict(parameters, `tools[${k}].parameters`)
      }
    } else if (body["tool_choice"] !== undefined) refuse("tool_choice: there are no tools to choose from")
    if (typeof body["input"] === "string") return void textAt(body["input"], "input")
    checkInput(listAt(body["input"], "input"), given, body["store"] !== false)
  }
  return {
    api: "openai-responses",
    path: "/v1/responses",
    toolPrefix: "call_",
    check,
    frames: (answer, body) => framesOf(answer, body, give(answer, body)),
    whole: (answer, body) => responseOf(answer, body, give(answer, body)),
    failure: openaiFailure,
    failureFrame: (message) => frame({ type: "error", sequence_number: 0, code: "server_error", message, param: null }, "error")
  }
}
