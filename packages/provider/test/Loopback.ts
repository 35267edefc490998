/** A tiny HTTP server on loopback that answers with server-sent events; one a test. */
import { Effect } from "effect"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface Received {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: any
}

export interface Loopback {
  readonly url: string
  readonly requests: Array<Received>
  /** Resolves when the connection of request `n` (from 0) has been closed by the other side before the answer's end. */
  readonly closed: (n: number) => Effect.Effect<void>
}

/** `answer` gets the number of the request, from 0. */
export const serve = (answer: (response: ServerResponse, n: number, request: Received) => void) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const requests: Array<Received> = []
      const closings: Array<PromiseWithResolvers<void>> = []
      const closing = (n: number) => closings[n] ??= Promise.withResolvers<void>()
      const server = createServer((request, response) => {
        let text = ""
        request.setEncoding("utf8").on("data", (data) => text += data).on("end", () => {
          const n = requests.length
          response.on("close", () => response.writableFinished || closing(n).resolve())
          const received = { url: request.url ?? "", headers: request.headers, body: text === "" ? undefined : JSON.parse(text) }
          requests.push(received)
          answer(response, n, received)
        })
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      return { server, loopback: { url, requests, closed: (n: number) => Effect.promise(() => closing(n).promise) } satisfies Loopback }
    }),
    ({ server }) =>
      Effect.promise(() => {
        server.closeAllConnections()
        return new Promise<void>((resolve) => server.close(() => resolve()))
      })
  ).pipe(Effect.map(({ loopback }) => loopback))

export const head = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream", connection: "close" })
export const event = (data: unknown) =>
  typeof data === "object" && data !== null && "type" in data
    ? `event: ${String(data.type)}\ndata: ${JSON.stringify(data)}\n\n`
    : `data: ${JSON.stringify(data)}\n\n`

/** Sends all events in one write. */
export const send = (...events: ReadonlyArray<unknown>) => (response: ServerResponse) => {
  head(response)
  response.end(events.map(event).join(""))
}

/** An answer of an error status. */
export const refuse = (status: number, body: unknown, headers: Record<string, string> = {}) => (response: ServerResponse) => {
  response.writeHead(status, { "content-type": "application/json", ...headers })
  response.end(JSON.stringify(body))
}

// --- the three protocols

export const anthropic = {
  start: (usage: object = { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 4, cache_creation_input_tokens: 3 }) =>
    ({ type: "message_start", message: { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null, stop_sequence: null, usage } }),
  text: (index: number, ...deltas: ReadonlyArray<string>) => [
    { type: "content_block_start", index, content_block: { type: "text", text: "" } },
    ...deltas.map((text) => ({ type: "content_block_delta", index, delta: { type: "text_delta", text } })),
    { type: "content_block_stop", index }
  ],
  thinking: (index: number, thinking: string, signature: string) => [
    { type: "content_block_start", index, content_block: { type: "thinking", thinking: "", signature: "" } },
    { type: "content_block_delta", index, delta: { type: "thinking_delta", thinking } },
    { type: "content_block_delta", index, delta: { type: "signature_delta", signature } },
    { type: "content_block_stop", index }
  ],
  tool: (index: number, id: string, name: string, ...json: ReadonlyArray<string>) => [
    { type: "content_block_start", index, content_block: { type: "tool_use", id, name, input: {} } },
    ...json.map((partial_json) => ({ type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json } })),
    { type: "content_block_stop", index }
  ],
  stop: (stop_reason: string, output_tokens = 7) => [
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens } },
    { type: "message_stop" }
  ]
}

export const chat = {
  delta: (delta: object, finish_reason: string | null = null) =>
    ({ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] }),
  tool: (index: number, id: string | undefined, name: string | undefined, json: string) =>
    chat.delta({ tool_calls: [{ index, ...(id === undefined ? {} : { id, type: "function" }), function: { ...(name === undefined ? {} : { name }), arguments: json } }] }),
  usage: { id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage: { prompt_tokens: 10, completion_tokens: 7, total_tokens: 17, prompt_tokens_details: { cached_tokens: 4 } } }
}

export const responses = {
  start: { type: "response.created", response: { id: "resp_1", created_at: 1, model: "m" } },
  reasoning: (output_index: number, id: string, text: string, encrypted_content: string) => [
    { type: "response.output_item.added", output_index, item: { type: "reasoning", id, summary: [], encrypted_content: null } },
    { type: "response.reasoning_summary_part.added", item_id: id, output_index, summary_index: 0, part: { type: "summary_text", text: "" } },
    { type: "response.reasoning_summary_text.delta", item_id: id, output_index, summary_index: 0, delta: text },
    { type: "response.reasoning_summary_part.done", item_id: id, output_index, summary_index: 0 },
    { type: "response.output_item.done", output_index, item: { type: "reasoning", id, summary: [{ type: "summary_text", text }], encrypted_content } }
  ],
  text: (output_index: number, id: string, ...deltas: ReadonlyArray<string>) => [
    { type: "response.output_item.added", output_index, item: { type: "message", id, role: "assistant", status: "in_progress", content: [] } },
    ...deltas.map((delta) => ({ type: "response.output_text.delta", item_id: id, output_index, content_index: 0, delta })),
    { type: "response.output_item.done", output_index, item: { type: "message", id, role: "assistant", status: "completed", content: [{ type: "output_text", text: deltas.join(""), annotations: [] }] } }
  ],
  tool: (output_index: number, call_id: string, name: string, json: string) => [
    { type: "response.output_item.added", output_index, item: { type: "function_call", id: `fc_${call_id}`, call_id, name, arguments: "", status: "in_progress" } },
    { type: "response.function_call_arguments.delta", item_id: `fc_${call_id}`, output_index, delta: json },
    { type: "response.output_item.done", output_index, item: { type: "function_call", id: `fc_${call_id}`, call_id, name, arguments: json, status: "completed" } }
  ],
  custom: (output_index: number, call_id: string, name: string, input: string) => [
    { type: "response.output_item.added", output_index, item: { type: "custom_tool_call", id: `ctc_${call_id}`, call_id, name, input: "", status: "in_progress" } },
    { type: "response.custom_tool_call_input.delta", item_id: `ctc_${call_id}`, output_index, delta: input },
    { type: "response.output_item.done", output_index, item: { type: "custom_tool_call", id: `ctc_${call_id}`, call_id, name, input, status: "completed" } }
  ],
  done: { type: "response.completed", response: { id: "resp_1", created_at: 1, model: "m", usage: { input_tokens: 10, output_tokens: 7, input_tokens_details: { cached_tokens: 4 }, output_tokens_details: { reasoning_tokens: 2 } } } }
}
