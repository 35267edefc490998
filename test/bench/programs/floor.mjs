/**
 * The floor of the benchmark: what any agent on Node must do for such a turn, and nothing else. It posts the prompt, reads
 * the answer's events, runs `read` calls from the disk and goes on until the model asks for nothing more.
 *
 *     BASE=http://127.0.0.1:PORT API=anthropic|openai-chat node floor.mjs [--json] PROMPT
 */
import { readFile } from "node:fs/promises"

const args = process.argv.slice(2)
const json = args[0] === "--json"
const prompt = args.slice(json ? 1 : 0).join(" ")
const { API = "anthropic", BASE } = process.env
const write = (record) => process.stdout.write(`${JSON.stringify(record)}\n`)

const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] }
const description = "Reads a file."
const system = "You are a coding agent. ".repeat(150)

const formats = {
  "anthropic": {
    path: "/v1/messages",
    headers: { "x-api-key": "x", "anthropic-version": "2023-06-01" },
    request: (messages) => ({ max_tokens: 4096, system, messages, tools: [{ name: "read", description, input_schema: schema }] }),
    event: (event, calls) => {
      if (event.type === "content_block_start" && event.content_block.type === "tool_use") calls.push({ id: event.content_block.id, args: "" })
      if (event.delta?.partial_json) calls.at(-1).args += event.delta.partial_json
      return event.delta?.text
    },
    said: (text, calls) => ({
      role: "assistant",
      content: [
        ...(text === "" ? [] : [{ type: "text", text }]),
        ...calls.map(({ args, id }) => ({ type: "tool_use", id, name: "read", input: JSON.parse(args) }))
      ]
    }),
    results: (results) => [{ role: "user", content: results.map(({ id, text }) => ({ type: "tool_result", tool_use_id: id, content: text })) }]
  },
  "openai-chat": {
    path: "/v1/chat/completions",
    headers: { authorization: "Bearer x" },
    request: (messages) => ({
      messages: [{ role: "system", content: system }, ...messages],
      tools: [{ type: "function", function: { name: "read", description, parameters: schema } }]
    }),
    event: (event, calls) => {
      const delta = event.choices[0]?.delta
      for (const part of delta?.tool_calls ?? []) {
        calls[part.index] ??= { id: part.id, args: "" }
        calls[part.index].args += part.function.arguments
      }
      return delta?.content
    },
    said: (text, calls) => ({
      role: "assistant",
      content: text === "" ? null : text,
      ...(calls.length === 0
        ? {}
        : { tool_calls: calls.map(({ args, id }) => ({ id, type: "function", function: { name: "read", arguments: args } })) })
    }),
    results: (results) => results.map(({ id, text }) => ({ role: "tool", tool_call_id: id, content: text }))
  }
}

const format = formats[API]
const messages = [{ role: "user", content: prompt }]
for (;;) {
  const response = await fetch(BASE + format.path, {
    method: "POST",
    headers: { "content-type": "application/json", ...format.headers },
    body: JSON.stringify({ model: "m", stream: true, ...format.request(messages) })
  })
  if (!response.ok) throw new Error(await response.text())
  const calls = []
  let text = ""
  let rest = ""
  const decoder = new TextDecoder()
  for await (const part of response.body) {
    const blocks = (rest + decoder.decode(part, { stream: true })).split("\n\n")
    rest = blocks.pop()
    for (const block of blocks) {
      const data = block.slice(block.indexOf("data: ") + 6)
      if (data === "[DONE]") continue
      const delta = format.event(JSON.parse(data), calls)
      if (!delta) continue
      text += delta
      if (json) write({ version: 1, type: "message_delta", delta })
    }
  }
  if (calls.length === 0) {
    if (json) write({ version: 1, type: "message", role: "assistant", content: text, final: true })
    else process.stdout.write(`${text}\n`)
    break
  }
  const results = await Promise.all(calls.map(async ({ args, id }) => ({ id, text: await readFile(JSON.parse(args).path, "utf8") })))
  messages.push(format.said(text, calls), ...format.results(results))
}
