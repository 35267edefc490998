import { assert, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createRequire } from "node:module"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { signatureOf } from "./AnthropicWire.ts"
import { type ModelStub, startModelStub } from "./ModelStub.ts"
import type { Scenario, Step } from "./Scenario.ts"

type Api = "anthropic" | "chat" | "responses"

const apis = {
  anthropic: {
    path: "/v1/messages",
    headers: { "x-api-key": "k", "anthropic-version": "2023-06-01" } as Record<string, string>,
    body: { model: "m", max_tokens: 100, messages: [{ role: "user", content: "hi" }] } as Record<string, unknown>
  },
  chat: {
    path: "/v1/chat/completions",
    headers: { authorization: "Bearer k" } as Record<string, string>,
    body: { model: "m", messages: [{ role: "user", content: "hi" }] } as Record<string, unknown>
  },
  responses: {
    path: "/v1/responses",
    headers: { authorization: "Bearer k" } as Record<string, string>,
    body: { model: "m", input: [{ role: "user", content: "hi" }] } as Record<string, unknown>
  }
}

const ask = (stub: ModelStub, api: Api, change: Record<string, unknown> = {}, init: { headers?: Record<string, string>; raw?: string; signal?: AbortSignal } = {}) =>
  fetch(stub.url + apis[api].path, {
    method: "POST",
    headers: { "content-type": "application/json", ...apis[api].headers, ...init.headers },
    body: init.raw ?? JSON.stringify({ ...apis[api].body, ...change }),
    ...(init.signal === undefined ? {} : { signal: init.signal })
  })

/** The data of every event of a stream; anything that is no JSON stays text. */
const eventsOf = (stream: string): Array<any> =>
  stream.split("\n\n").filter((block) => block !== "").map((block) => {
    const data = /^data: (.*)$/m.exec(block)?.[1] ?? ""
    try {
      return JSON.parse(data)
    } catch {
      return data
    }
  })

const streamed = async (stub: ModelStub, api: Api, change: Record<string, unknown> = {}) => eventsOf(await (await ask(stub, api, { stream: true, ...change })).text())

const whole = async (stub: ModelStub, api: Api, change: Record<string, unknown> = {}): Promise<any> => (await ask(stub, api, change)).json()

const always: Scenario = [{ text: "ok", repeat: "always" }]

/** Every request of `bad` is refused, with the status and a body in the provider's shape that matches. */
const refuses = async (api: Api, bad: ReadonlyArray<readonly [change: Record<string, unknown>, problem: RegExp, status?: number]>) => {
  await using stub = await startModelStub(always)
  for (const [change, problem, status = 400] of bad) {
    const response = await ask(stub, api, change)
    const body: any = await response.json()
    assert.strictEqual(response.status, status, JSON.stringify(change))
    assert.match(body.error.message, problem)
    assert.strictEqual(typeof body.error.type, "string")
    assert.strictEqual(stub.requests.at(-1)?.problem, body.error.message)
  }
}

const user = (content: unknown = "hi") => ({ role: "user", content })
const says = (content: unknown = "yes") => ({ role: "assistant", content })

describe("Anthropic requests", () => {
  const use = (id: string, more = {}) => ({ type: "tool_use", id, name: "read", input: {}, ...more })
  const result = (id: string, content: unknown = "x") => ({ type: "tool_result", tool_use_id: id, content })
  const talk = (...messages: Array<unknown>) => ({ messages })

  it("are refused when something is missing or of the wrong shape", () =>
    refuses("anthropic", [
      [{ model: undefined }, /^model/],
      [{ max_tokens: undefined }, /^max_tokens/],
      [{ max_tokens: 0 }, /^max_tokens/],
      [{ messages: [] }, /^messages/],
      [{ system: "" }, /^system/],
      [{ system: [{ type: "text", text: " " }] }, /^system\.0/],
      [{ temperature: 1.5 }, /^temperature/],
      [{ tools: [{ name: "a b", input_schema: { type: "object" } }] }, /tool's name/],
      [{ tools: [{ name: "a", input_schema: {} }] }, /input_schema/],
      [{ tools: [{ name: "a", input_schema: { type: "object" } }, { name: "a", input_schema: { type: "object" } }] }, /unique/],
      [{ tool_choice: { type: "auto" } }, /^tool_choice/],
      [{ thinking: { type: "enabled", budget_tokens: 5 } }, /budget_tokens/],
      [{ thinking: { type: "enabled", budget_tokens: 2000 } }, /^max_tokens/],
      [{ messages: [user(Array.from({ length: 5 }, () => ({ type: "text", text: "a", cache_control: { type: "ephemeral" } })))] }, /^cache_control/]
    ]))

  it("are refused when the roles are wrong or content is empty", () =>
    refuses("anthropic", [
      [talk(says()), /first message/],
      [talk(user(), user()), /alternate/],
      [talk(user(), { role: "system", content: "x" }), /user or assistant/],
      [talk(user(), says()), /last message/],
      [talk(user("")), /content\.0\.text/],
      [talk(user([])), /at least one/],
      [talk(user([{ type: "text", text: "\n" }])), /blanks/],
      [talk(user([{ type: "image", source: { type: "base64", media_type: "image/png", data: "!!" } }])), /base64/],
      [talk(user([{ type: "image", source: { type: "base64", media_type: "image/tiff", data: "AAAA" } }])), /media_type/],
      [talk(user([{ type: "image", source: { type: "file", file_id: "f" } }])), /base64 or url/],
      [talk(user([{ type: "riddle" }])), /not known/],
      [talk(user([use("a")])), /belongs to the assistant/],
      [talk(user(), says([{ type: "image", source: { type: "url", url: "https://example.org/a.png" } }]), user()), /belongs to the user/],
      [talk(user(), says([{ type: "thinking", signature: "b" }]), user()), /thinking: a string/],
      [talk(user(), says([{ type: "redacted_thinking", data: "" }]), user()), /data/],
      [talk(user(), says([{ type: "thinking", thinking: "a", signature: "b" }]), user()), /as it was given/]
    ]))

  it("are refused when tool uses and results do not pair", () =>
    refuses("anthropic", [
      [talk(user(), says([use("a")]), user()), /without a tool_result.*: a$/],
      [talk(user(), says([use("a"), use("b")]), user([result("b")])), /without a tool_result.*: a$/],
      [talk(user(), says([use("a")])), /without a tool_result/],
      [talk(user([result("a")])), /no tool_use/],
      [talk(user(), says([use("a")]), user([result("a")]), says(), user([result("a")])), /no tool_use/],
      [talk(user(), says([use("a")]), user([result("a"), result("a")])), /twice/],
      [talk(user(), says([use("a"), use("a")]), user([result("a")])), /unique/],
      [talk(user(), says([use("a")]), user([result("a")]), says([use("a")]), user([result("a")])), /unique/],
      [talk(user(), says([use("")]), user([result("")])), /\.id/],
      [talk(user(), says([use("a", { input: "{}" })]), user([result("a")])), /input/],
      [talk(user(), says([use("a", { name: "" })]), user([result("a")])), /tool's name/],
      [talk(user(), says([use("a")]), user([{ type: "text", text: "x" }, result("a")])), /before anything else/],
      [talk(user(), says([use("a")]), user([result("a", [{ type: "text", text: "" }])])), /content\.0\.text/]
    ]))

  it("are accepted when they hold a whole conversation", async () => {
    await using stub = await startModelStub(always)
    const thinking = { type: "thinking", thinking: "hm", signature: signatureOf("hm") }
    const response = await ask(stub, "anthropic", {
      system: [{ type: "text", text: "be good", cache_control: { type: "ephemeral" } }],
      tools: [{ name: "read", input_schema: { type: "object" } }],
      messages: [
        user([{ type: "text", text: "look" }, { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }]),
        says([thinking, { type: "text", text: "reading" }, use("a"), use("b", { name: "not_offered" })]),
        user([result("b", ""), result("a", [{ type: "text", text: "x" }]), { type: "text", text: "and now?" }]),
        says(),
        user()
      ]
    })
    assert.strictEqual(response.status, 200)
  })

  it("without a key get 401, with broken JSON or an unknown path an error of their own", async () => {
    await using stub = await startModelStub(always)
    const without = await ask(stub, "anthropic", {}, { headers: { "x-api-key": "" } })
    assert.deepStrictEqual([without.status, ((await without.json()) as any).error.type], [401, "authentication_error"])
    assert.strictEqual((await ask(stub, "anthropic", {}, { headers: { "x-api-key": "", authorization: "Bearer t" } })).status, 200)
    assert.strictEqual((await ask(stub, "anthropic", {}, { headers: { "anthropic-version": "" } })).status, 400)
    assert.strictEqual((await ask(stub, "anthropic", {}, { raw: '{"model":' })).status, 400)
    assert.strictEqual((await ask(stub, "anthropic", {}, { raw: "[]" })).status, 400)
    assert.strictEqual((await fetch(`${stub.url}/v2/messages`, { method: "POST", body: "{}" })).status, 404)
  })
})

describe("OpenAI Chat requests", () => {
  const calls = (...ids: Array<string>) => ({
    role: "assistant",
    content: null,
    tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "read", arguments: "{}" } }))
  })
  const result = (tool_call_id: string, content: unknown = "") => ({ role: "tool", tool_call_id, content })
  const talk = (...messages: Array<unknown>) => ({ messages })

  it("are refused when something is missing, empty or of the wrong shape", () =>
    refuses("chat", [
      [{ model: "" }, /^model/],
      [{ messages: undefined }, /^messages/],
      [talk(user("")), /content/],
      [talk(user([{ type: "text", text: "" }])), /text/],
      [{ temperature: 3 }, /^temperature/],
      [talk(user([{ type: "image_url", image_url: { url: "file:///x" } }])), /data URL/],
      [talk(user([{ type: "image_url", image_url: { url: "data:image/png;base64,?" } }])), /base64/],
      [talk(user([{ type: "riddle" }])), /not known/],
      [talk({ role: "critic", content: "x" }), /role/],
      [talk(user(), says(null)), /content/],
      [talk(user(), says()), /last message/],
      [{ tools: [{ type: "function", function: { name: "" } }] }, /tool's name/],
      [{ tool_choice: "auto" }, /^tool_choice/],
      [{ stream_options: { include_usage: true } }, /^stream_options/]
    ]))

  it("are refused when tool calls and results do not pair", () =>
    refuses("chat", [
      [talk(user(), calls("a"), user()), /no tool message: a/],
      [talk(user(), calls("a", "b"), result("a")), /no tool message: b/],
      [talk(user(), result("a")), /answers none/],
      [talk(user(), calls("a"), result("a"), result("a")), /answers none/],
      [talk(user(), calls("a", "a"), result("a")), /unique/],
      [talk(user(), calls("a"), result("a"), calls("a"), result("a")), /unique/],
      [talk(user(), calls(""), result("")), /\.id/],
      [talk(user(), calls(), user()), /at least one/],
      [talk(user(), calls("a"), result("a", null)), /content/],
      [talk(user(), { role: "assistant", tool_calls: [{ id: "a", type: "function", function: { name: "read", arguments: {} } }] }, result("a")), /a string/],
      [talk(user(), { role: "assistant", tool_calls: [{ id: "a", type: "function", function: { name: "read", arguments: "[]" } }] }, result("a")), /an object/],
      [talk(user(), { role: "assistant", tool_calls: [{ id: "a", type: "function", function: { name: "read", arguments: "{" } }] }, result("a")), /no JSON/]
    ]))

  it("are accepted when they hold a whole conversation, and without a key get 401", async () => {
    await using stub = await startModelStub(always)
    const messages = [{ role: "system", content: "be good" }, user(), calls("a", "b"), result("b"), result("a", "x"), says(), user(), user()]
    assert.strictEqual((await ask(stub, "chat", { messages })).status, 200)
    const without = await ask(stub, "chat", {}, { headers: { authorization: "" } })
    assert.deepStrictEqual([without.status, ((await without.json()) as any).error.code], [401, "invalid_api_key"])
  })
})

describe("Google and Mistral requests", () => {
  const post = async (stub: ModelStub, path: string, headers: Record<string, string>, body: object): Promise<readonly [number, string]> => {
    const response = await fetch(stub.url + path, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) })
    return [response.status, await response.text()]
  }
  const gemini = "/v1beta/models/m:streamGenerateContent?alt=sse"
  const key = { "x-goog-api-key": "k" }
  const said = { role: "user", parts: [{ text: "hi" }] }
  const call = { functionCall: { id: "1", name: "read", args: {} } }
  const result = { functionResponse: { id: "1", name: "read", response: { content: "x" } } }

  it("are refused when calls and results do not pair, a signature is not given back, or an id is not theirs", async () => {
    await using stub = await startModelStub([{ tools: [{ name: "read", args: {}, id: "1" }] }, { text: "ok", repeat: "always" }])
    const bearer = { authorization: "Bearer k" }
    const refused = async (path: string, headers: Record<string, string>, body: object, problem: RegExp, status = 400) => {
      const [code, text] = await post(stub, path, headers, body)
      assert.strictEqual(code, status, text)
      assert.match(text, problem)
    }
    assert.match((await post(stub, gemini, key, { contents: [said] }))[1], /thoughtSignature/)
    await refused(gemini, {}, { contents: [said] }, /API key/, 401)
    await refused(gemini, key, { contents: [] }, /contents/)
    await refused(gemini, key, { contents: [said, { role: "model", parts: [call] }, said] }, /lacks the thought_signature/)
    await refused(gemini, key, { contents: [said, { role: "model", parts: [{ functionCall: { id: "2", name: "read", args: {} } }] }, said] }, /number of function response parts/)
    await refused(gemini, key, { contents: [said, { role: "user", parts: [result] }] }, /number of function response parts/)
    await refused(gemini, key, { contents: [said, { role: "model", parts: [{ text: "x" }] }] }, /last turn/)
    const messages = [{ role: "user", content: "hi" }, { role: "assistant", content: "", tool_calls: [{ id: "call_1", type: "function", function: { name: "read", arguments: "{}" } }] }, { role: "tool", tool_call_id: "call_1", content: "x" }]
    await refused("/mistral/v1/chat/completions", bearer, { model: "m", messages }, /length of 9/)
    await refused("/mistral/v1/chat/completions", {}, { model: "m", messages }, /Authorization/, 401)
  })
})

describe("OpenAI Responses requests", () => {
  const call = (call_id: string, more = {}) => ({ type: "function_call", call_id, name: "read", arguments: "{}", ...more })
  const output = (call_id: string, text = "") => ({ type: "function_call_output", call_id, output: text })
  const talk = (...input: Array<unknown>) => ({ input })

  it("are refused when something is missing, empty, misplaced or unpaired", () =>
    refuses("responses", [
      [{ model: undefined }, /^model/],
      [{ input: "" }, /^input/],
      [talk(), /at least one/],
      [talk(user([{ type: "output_text", text: "x" }])), /does not belong/],
      [talk(user([{ type: "input_text", text: "" }])), /text/],
      [talk(user(), says()), /last item/],
      [talk(user(), call("a")), /no tool output.* a/],
      [talk(user(), call("a"), user()), /no tool output.* a/],
      [talk(user(), output("a")), /no function call/],
      [talk(user(), call("a"), output("a"), output("a")), /no function call/],
      [talk(user(), call("a"), call("a"), output("a")), /unique/],
      [talk(user(), call(""), output("")), /call_id/],
      [talk(user(), call("a", { arguments: "{" }), output("a")), /no JSON/],
      [talk({ type: "item_reference", id: "msg_9" }), /stored/, 404],
      [talk(user(), { type: "reasoning", id: "rs", summary: [] }, user()), /without the item/],
      [talk({ type: "riddle" }), /not known/],
      [{ tools: [{ type: "function", name: "a" }] }, /parameters/],
      [{ previous_response_id: "r" }, /previous_response_id/]
    ]))

  it("may name a stored item, must send reasoning with what followed it, and its content when nothing is stored", async () => {
    await using stub = await startModelStub([{ thinking: "hm", tools: [{ name: "read" }], repeat: 2 }, ...(always as ReadonlyArray<Step>)])
    const [reasoning, called] = (await whole(stub, "responses")).output
    const reference = (item: any) => ({ type: "item_reference", id: item.id })
    const [, kept] = (await whole(stub, "responses", { store: false })).output
    const status = async (change: Record<string, unknown>) => (await ask(stub, "responses", change)).status
    assert.strictEqual(await status(talk(user(), reference(reasoning), reference(called), output(called.call_id))), 200)
    assert.strictEqual(await status(talk(user(), reference(called), output(called.call_id))), 400)
    assert.strictEqual(await status(talk(user(), reference(kept), output(kept.call_id))), 404)
    const sent = talk(user(), reasoning, called, output(called.call_id))
    assert.strictEqual(await status(sent), 200)
    assert.strictEqual(await status({ ...sent, store: false }), 404)
    assert.strictEqual(await status({ input: [user(), { ...reasoning, encrypted_content: "e" }, called, output(called.call_id)], store: false }), 200)
  })
})

const rich: Step = {
  thinking: "Let me think about it.",
  text: "Grüße, 世界 🌍! Here is more text.",
  tools: [{ name: "read", args: { path: "a.txt" } }, { name: "grep", args: { pattern: "x" }, id: "mine" }],
  usage: { input: 7, output: 5, cacheRead: 3, cacheWrite: 2 }
}

/** What a client makes of a stream: text, thinking, calls and how it ended. */
const fold = (api: Api, events: Array<any>) => {
  const calls: Array<{ id: string; name: string; args: string }> = []
  let text = ""
  let thinking = ""
  let end: unknown
  for (const event of events) {
    if (api === "anthropic") {
      if (event.type === "content_block_start" && event.content_block.type === "tool_use") calls.push({ id: event.content_block.id, name: event.content_block.name, args: "" })
      text += event.delta?.text ?? ""
      thinking += event.delta?.thinking ?? ""
      if (event.delta?.partial_json !== undefined) calls.at(-1)!.args += event.delta.partial_json
      if (event.type === "message_stop") end = event.type
    } else if (api === "chat") {
      const delta = event.choices?.[0]?.delta ?? {}
      text += delta.content ?? ""
      thinking += delta.reasoning_content ?? ""
      for (const part of delta.tool_calls ?? []) {
        if (part.id !== undefined) calls[part.index] = { id: part.id, name: part.function.name, args: "" }
        calls[part.index]!.args += part.function.arguments
      }
      if (event === "[DONE]") end = event
    } else {
      if (event.type === "response.output_text.delta") text += event.delta
      if (event.type === "response.reasoning_summary_text.delta") thinking += event.delta
      if (event.type === "response.output_item.added" && event.item.type === "function_call") calls.push({ id: event.item.call_id, name: event.item.name, args: "" })
      if (event.type === "response.function_call_arguments.delta") calls.at(-1)!.args += event.delta
      if (event.type === "response.completed") end = event.type
    }
  }
  return { text, thinking, calls: calls.map(({ args, id, name }) => ({ id, name, args: JSON.parse(args) })), ended: end !== undefined }
}

describe.each(["anthropic", "chat", "responses"] as const)("Answers in the format of %s", (api) => {
  const expected = (calls: ReadonlyArray<any>) => {
    assert.deepStrictEqual(calls.map(({ args, name }) => ({ name, args })), [
      { name: "read", args: { path: "a.txt" } },
      { name: "grep", args: { pattern: "x" } }
    ])
    assert.strictEqual(calls[1].id, "mine")
    assert.match(calls[0].id, /^(toolu|call)_/)
  }

  it("stream thinking, text and parallel calls", async () => {
    await using stub = await startModelStub([rich])
    const { calls, ended, text, thinking } = fold(api, await streamed(stub, api))
    assert.deepStrictEqual([text, thinking, ended], [rich.text, rich.thinking, true])
    expected(calls)
  })

  it("are the same when written byte by byte", async () => {
    await using stub = await startModelStub([{ ...rich, split: "everyByte" }])
    const { calls, ended, text, thinking } = fold(api, await streamed(stub, api))
    assert.deepStrictEqual([text, thinking, ended], [rich.text, rich.thinking, true])
    expected(calls)
  })

  it("name the usage, in the provider's way of counting", async () => {
    await using stub = await startModelStub([rich, rich])
    const options = api === "chat" ? { stream_options: { include_usage: true } } : {}
    const events = await streamed(stub, api, options)
    const usage = (api === "responses" ? events.at(-1).response : events.findLast((event) => event.usage !== undefined)).usage
    const body = await whole(stub, api)
    assert.deepStrictEqual(body.usage, usage)
    if (api === "anthropic") {
      assert.deepStrictEqual(usage, { input_tokens: 7, output_tokens: 5, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 })
    } else if (api === "chat") assert.deepInclude(usage, { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 })
    else assert.deepInclude(usage, { input_tokens: 12, output_tokens: 5, total_tokens: 17 })
  })

  it("can be had whole", async () => {
    await using stub = await startModelStub([rich])
    const body = await whole(stub, api)
    const text = JSON.stringify(body)
    assert.include(text, JSON.stringify(rich.text))
    assert.include(text, "Let me think")
    assert.include(text, '"mine"')
  })

  it("can be deltas as given, counted ones, and repeated steps with their number", async () => {
    await using stub = await startModelStub([
      { deltas: ["a", "b"] },
      { deltas: { count: 100, chunk: "{i} " } },
      { tools: [{ name: "read", args: { path: "f{i}.txt" } }], repeat: 2 }
    ])
    assert.strictEqual(fold(api, await streamed(stub, api)).text, "ab")
    assert.strictEqual(fold(api, await streamed(stub, api)).text, Array.from({ length: 100 }, (_, i) => `${i} `).join(""))
    assert.strictEqual(fold(api, await streamed(stub, api)).calls[0]!.args.path, "f1.txt")
    assert.strictEqual(fold(api, await streamed(stub, api)).calls[0]!.args.path, "f2.txt")
    assert.match((await whole(stub, api)).error.message, /no step/)
  })

  it("can be an HTTP error so many times, with retry-after, before the answer", async () => {
    await using stub = await startModelStub([{ status: 429, retryAfter: 2, times: 2, text: "ok" }, { status: 500 }, { status: 529, body: { mine: 1 } }])
    for (const _ of [1, 2]) {
      const response = await ask(stub, api)
      assert.deepStrictEqual([response.status, response.headers.get("retry-after")], [429, "2"])
      assert.strictEqual(typeof ((await response.json()) as any).error.message, "string")
    }
    assert.strictEqual(fold(api, await streamed(stub, api)).text, "ok")
    assert.strictEqual((await ask(stub, api)).status, 500)
    assert.deepStrictEqual(await whole(stub, api), { mine: 1 })
  })

  it("can be cut after any event, and nothing written before is lost", async () => {
    await using stub = await startModelStub([rich, { ...rich, cutAfter: 1, times: 1000 }])
    const all = (await streamed(stub, api)).length
    for (let n = 0; n < all; n++) {
      stub.setScenario([{ ...rich, cutAfter: n }])
      const response = await ask(stub, api, { stream: true })
      let got = ""
      const decoder = new TextDecoder()
      const failure = await (async () => {
        for await (const part of response.body!) got += decoder.decode(part, { stream: true })
      })().catch((error: unknown) => error)
      assert.instanceOf(failure, TypeError)
      assert.strictEqual(eventsOf(got).length, n)
      const { aborted, events } = await stub.ended(n + 2)
      assert.deepStrictEqual({ aborted, events }, { aborted: false, events: n })
    }
  })

  it("can hold an event that is no JSON, and an error inside the stream", async () => {
    await using stub = await startModelStub([{ text: "a b c", garble: 2 }, { text: "a b c", failAfter: 2 }, { text: "a b c", garble: true, times: 1 }])
    const garbled = await streamed(stub, api)
    assert.include(garbled[2], "no JSON")
    const failed = await streamed(stub, api)
    assert.strictEqual(failed.length, 3)
    assert.match(JSON.stringify(failed[2]), /overloaded/)
    assert.isTrue((await streamed(stub, api)).some((event) => typeof event === "string" && event.includes("no JSON")))
    assert.isTrue(fold(api, await streamed(stub, api)).ended)
  })

  it("can fail to come at all or fall silent, and the client's leaving is seen", async () => {
    await using stub = await startModelStub([{ hang: true }, { text: "a", hang: 1 }, { text: "a", delayMs: 60_000 }])
    const leaving = new AbortController()
    const first = ask(stub, api, { stream: true }, { signal: leaving.signal })
    await stub.arrived(1)
    leaving.abort()
    await first.catch(() => undefined)
    assert.isTrue((await stub.ended(1)).aborted)
    const silent = new AbortController()
    const response = await ask(stub, api, { stream: true }, { signal: silent.signal })
    const reader = response.body!.getReader()
    assert.isFalse((await reader.read()).done)
    silent.abort()
    await reader.read().catch(() => undefined)
    assert.deepInclude(await stub.ended(2), { aborted: true, events: 1 })
    const late = new AbortController()
    const third = ask(stub, api, { stream: true }, { signal: late.signal })
    await stub.arrived(3)
    late.abort()
    await third.catch(() => undefined)
    assert.isTrue((await stub.ended(3)).aborted)
  })

  it("say why they ended when it was not by themselves", async () => {
    await using stub = await startModelStub([{ text: "a", finish: "length" }, { text: "a", finish: "filter" }])
    const reasons = { anthropic: ["max_tokens", "refusal"], chat: ["length", "content_filter"], responses: ["max_output_tokens", "content_filter"] }
    for (const reason of reasons[api]) assert.include(JSON.stringify(await streamed(stub, api)), `"${reason}"`)
  })
})

describe("The stub", () => {
  it("does not spend a step on a refused request, and records what it saw", async () => {
    await using stub = await startModelStub([{ text: "a" }])
    await ask(stub, "chat", { messages: [] })
    assert.strictEqual((await whole(stub, "chat")).choices[0].message.content, "a")
    const [refused, served] = stub.requests
    assert.deepInclude(refused, { serial: 1, status: 400, api: "openai-chat" })
    assert.deepInclude(served, { serial: 2, status: 200, path: "/v1/chat/completions", problem: undefined })
    assert.strictEqual(served?.headers["authorization"], "Bearer k")
    assert.strictEqual(served?.body?.["model"], "m")
  })

  it("refuses a scenario with a key it does not know or a step with nothing to do", async () => {
    const failure = (scenario: any) => startModelStub(scenario).then(() => "", String)
    assert.match(await failure([{ txt: "a" }]), /unknown key txt/)
    assert.match(await failure([{ delayMs: 1 }]), /an answer or a fault/)
  })

  it("stamps text events with the machine's clock when asked", async () => {
    await using stub = await startModelStub([{ deltas: ["ab", "c"], pauseMs: 2, stamp: true }])
    await streamed(stub, "chat")
    const [first, second] = stub.requests[0]!.stamps
    assert.deepStrictEqual([first?.[1], second?.[1]], [2, 1])
    assert.isAtLeast(second![0] - first![0], 1)
  })

  it("runs as a process of its own that takes scenarios, writes its log and ends with its stdin", async () => {
    const dir = await mkdtemp(join(tmpdir(), "nimlet-stub-"))
    try {
      const log = join(dir, "log.jsonl")
      const program = join(import.meta.dirname, "model-stub.ts")
      const child = spawn(process.execPath, [program, "--port-file", join(dir, "port"), "--log", log, "--until-stdin-ends"], { stdio: ["pipe", "pipe", "inherit"] })
      const [line] = (await once(child.stdout, "data")) as [Buffer]
      const { url } = JSON.parse(line.toString())
      assert.strictEqual(url, `http://127.0.0.1:${await readFile(join(dir, "port"), "utf8")}`)
      assert.strictEqual((await fetch(`${url}/stub/scenario`, { method: "PUT", body: '[{"text":"hello"}]' })).status, 200)
      assert.strictEqual((await fetch(`${url}/stub/scenario`, { method: "PUT", body: '[{"txt":"hello"}]' })).status, 400)
      assert.strictEqual((await whole({ url } as ModelStub, "chat")).choices[0].message.content, "hello")
      const listed: any = await (await fetch(`${url}/stub/requests`)).json()
      assert.deepStrictEqual([listed.length, listed[0].status], [1, 200])
      child.stdin.end()
      assert.deepStrictEqual(await once(child, "exit"), [0, null])
      assert.strictEqual(JSON.parse((await readFile(log, "utf8")).trim()).body.model, "m")
    } finally {
      await rm(dir, { recursive: true })
    }
  })
})

/** The AI SDK's own provider packages, if the provider package has them installed. */
const sdk = (name: string): any => {
  try {
    return createRequire(join(import.meta.dirname, "../../packages/provider/package.json"))(name)
  } catch {
    return undefined
  }
}

const openai = sdk("@ai-sdk/openai")
const compatible = sdk("@ai-sdk/openai-compatible")
const anthropic = sdk("@ai-sdk/anthropic")
const models: ReadonlyArray<readonly [name: string, make: ((baseURL: string) => any) | undefined]> = [
  ["Anthropic", anthropic && ((baseURL: string) => anthropic.createAnthropic({ baseURL, apiKey: "k" })("claude-sonnet-4-5"))],
  ["OpenAI Chat", openai && ((baseURL: string) => openai.createOpenAI({ baseURL, apiKey: "k" }).chat("gpt-5"))],
  ["OpenAI Responses", openai && ((baseURL: string) => openai.createOpenAI({ baseURL, apiKey: "k" }).responses("gpt-5"))],
  ["OpenAI-compatible", compatible && ((baseURL: string) => compatible.createOpenAICompatible({ name: "stub", baseURL, apiKey: "k", includeUsage: true })("m"))]
]

describe.each(models)("The AI SDK's %s model", (_, make) => {
  it.runIf(make !== undefined)("reads a streamed answer, sends back its results and is accepted", async () => {
    await using stub = await startModelStub([{ ...rich, split: 7 }, { text: "done" }])
    const model = make!(`${stub.url}/v1`)
    const tools = ["read", "grep"].map((name) => ({ type: "function", name, inputSchema: { type: "object", properties: {} } }))
    const prompt: Array<any> = [{ role: "system", content: "be good" }, { role: "user", content: [{ type: "text", text: "hi" }] }]
    const parts: Array<any> = []
    for await (const part of (await model.doStream({ prompt, tools })).stream) parts.push(part)
    assert.deepStrictEqual(parts.filter(({ type }) => type === "error"), [])
    const joined = (type: string) => parts.filter((part) => part.type === type).map(({ delta }) => delta).join("")
    assert.strictEqual(joined("text-delta"), rich.text)
    const calls = parts.filter(({ type }) => type === "tool-call")
    assert.deepStrictEqual(calls.map(({ input, toolName }) => [toolName, JSON.parse(input)]), [["read", { path: "a.txt" }], ["grep", { pattern: "x" }]])
    const finish = parts.find(({ type }) => type === "finish")
    assert.deepInclude(finish.usage.inputTokens, { total: 12, cacheRead: 3 })
    assert.strictEqual(finish.usage.outputTokens.total, 5)
    const back = calls.map(({ toolCallId, toolName }) => ({ type: "tool-result", toolCallId, toolName, output: { type: "text", value: "x" } }))
    const said = calls.map(({ input, toolCallId, toolName }) => ({ type: "tool-call", toolCallId, toolName, input: JSON.parse(input) }))
    prompt.push({ role: "assistant", content: [{ type: "text", text: joined("text-delta") }, ...said] }, { role: "tool", content: back })
    const { content } = await model.doGenerate({ prompt, tools })
    assert.deepStrictEqual(stub.requests.map(({ problem }) => problem), [undefined, undefined])
    assert.strictEqual(content.find(({ type }: any) => type === "text").text, "done")
  })
})
