/** The whole of a session as a real extension process hears it, over real layers and a provider on loopback. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { HookEvents, isHookName, moduleEvents } from "@nimlet/protocol"
import { type RealAgent, withRealAgent } from "./RealAgent.ts"

/** An extension that subscribes to every event that is not of modules alone, writes down name and payload, and answers as its folder says. */
const witness = `#!/usr/bin/env node
import { appendFileSync, readFileSync } from "node:fs"
import { createInterface } from "node:readline"
const answers = JSON.parse(readFileSync(new URL("answers.json", import.meta.url), "utf8"))
console.log(JSON.stringify({ type: "register", commands: [], events: ${JSON.stringify(Object.keys(HookEvents).filter((name) => !isHookName(name) || !moduleEvents.includes(name)))} }))
for await (const line of createInterface({ input: process.stdin })) {
  const { type, id, event, payload } = JSON.parse(line)
  if (type !== "event") continue
  appendFileSync("heard.jsonl", JSON.stringify({ pid: process.pid, event, payload }) + "\\n")
  console.log(JSON.stringify({ type: "response", id, ...answers[event] }))
}
`

interface Heard {
  readonly pid: number
  readonly event: string
  readonly payload: any
}

const request = ["before_provider_request", "before_provider_headers", "after_provider_response"]

/** An agent with the extension, over a stub that plays `scenario`, and what was heard up to the quit. */
const withWitness = (
  scenario: Parameters<typeof withRealAgent>[0]["scenario"],
  answers: object,
  body: (place: RealAgent) => Effect.Effect<unknown, unknown>
) => {
  let heard: ReadonlyArray<Heard> = []
  const folder = "home/.niminal/extensions/witness"
  const files = {
    "work/alpha.txt": "alpha line of a long file\n".repeat(460),
    "work/beta.txt": "beta line of a long file\n".repeat(1_750),
    [`${folder}/extension.json`]: JSON.stringify({ name: "witness", command: ["./witness.mjs"] }),
    [`${folder}/witness.mjs`]: witness,
    [`${folder}/answers.json`]: JSON.stringify(answers)
  }
  // Read when the agent has gone, and before its folder has.
  const read = ({ workspace }: RealAgent) => {
    heard = readFileSync(join(workspace, "heard.jsonl"), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line) as Heard)
  }
  return withRealAgent({ files, scenario, closed: read }, (place) => Effect.as(body(place), place)).pipe(
    Effect.map(({ stub, workspace }) => ({ heard, stub, workspace }))
  )
}

describe("an extension that subscribed to everything", () => {
  // E-159 E-160 E-162 E-163 E-166 E-167 E-169 E-195 E-199 E-201 E-203 E-204 E-207 X-029 X-030 X-033 X-034 X-043 X-045 X-047
  // X-052 X-053 X-054 X-055 X-056 X-058 X-066 X-067 X-070 X-071 X-072 X-076 X-077 X-078 X-081
  it.live("hears of two turns, compactions, a failed request, another model, a new session and the quit, in order and with all fields", () =>
    Effect.gen(function*() {
      const ids: Array<string> = []
      const read = (path: string) => ({ name: "read", args: { path } })
      const { heard, stub, workspace } = yield* withWitness(
        [
          { text: "I look.", tools: [read("alpha.txt")] },
          { status: 529, times: 1, text: "Done." },
          { status: 400 },
          { text: "SUMMARY by hand" },
          { tools: [read("beta.txt")] },
          { text: "SUMMARY by itself" },
          { text: "Welcome." }
        ],
        {},
        ({ agent, choose }) =>
          Effect.gen(function*() {
            assert.isTrue((yield* agent.prompt({ typed: "read alpha.txt" })).success)
            assert.isFalse((yield* agent.prompt({ typed: "/compact mind the names" })).success)
            assert.isTrue((yield* agent.prompt({ typed: "/compact mind the names" })).success)
            yield* agent.select(yield* choose("claude-haiku-4-5"))
            assert.isTrue((yield* agent.prompt({ typed: "now beta.txt" })).success)
            ids.push((yield* agent.session).id, (yield* agent.newSession).session.id)
          })
      )
      const [observed, settings] = ["after_provider_response", "session_settings_changed"]
      // Nobody waits for what is told of a response or of settings: it may be read a little later.
      const order = heard.map(({ event }) => event).filter((event) => event !== observed && event !== settings)
      const asks = request.filter((event) => event !== observed)
      const [begins, ends] = [["input", "before_agent_start", "turn_start"], ["turn_end", "agent_settled"]]
      assert.deepStrictEqual(order, [
        "session_start",
        ...begins, "context", ...asks, "message_end", "tool_call", "tool_result", "context", ...asks, ...asks, "message_end", ...ends,
        "session_before_compact", ...asks, "session_compact_failed", "session_compact",
        "session_before_compact", ...asks, "session_compact",
        ...begins, "context", ...asks, "message_end", "tool_call", "tool_result",
        "session_before_compact", ...asks, "session_compact", "context", ...asks, "message_end", ...ends,
        "session_before_switch", "session_shutdown", "session_end",
        "session_start",
        "session_shutdown", "session_end"
      ])
      assert.sameMembers([...new Set(heard.map(({ event }) => event))], Object.keys(HookEvents).filter((name) => !isHookName(name) || !moduleEvents.includes(name)))
      // A session has processes of its own.
      const [first, second] = [...new Set(heard.map(({ pid }) => pid))]
      assert.deepStrictEqual(heard.slice(-3).map(({ pid }) => pid), [second, second, second])
      assert.strictEqual(heard[0]?.pid, first)

      const [from, to] = ids
      const about = { session_id: from, workspace }
      const selected = { ...about, provider: "anthropic", model: "claude-sonnet-4-6", thinking: "" }
      const changed = { ...selected, model: "claude-haiku-4-5" }
      const payloads = (name: string) => heard.flatMap(({ event, payload }) => event === name ? [payload] : [])
      const [began, renewed] = payloads("session_start")
      assert.deepStrictEqual(began, { ...selected, reason: "startup" })
      assert.match(renewed.previous_session_file, new RegExp(`${from}\\.jsonl$`))
      assert.deepStrictEqual({ ...renewed, previous_session_file: "" }, { ...changed, session_id: to, reason: "new", previous_session_file: "" })
      assert.deepStrictEqual(payloads("input"), [{ ...about, text: "read alpha.txt", images: [] }, { ...about, text: "now beta.txt", images: [] }])
      assert.deepStrictEqual(payloads("before_agent_start")[0], { ...about, prompt: "read alpha.txt", images: [], system_prompt: "Be good." })
      assert.deepStrictEqual(payloads("turn_start"), [about, about])
      const [start, afterTool, later, compacted] = payloads("context")
      const roles = ({ messages }: { readonly messages: ReadonlyArray<{ readonly role: string }> }) => messages.map(({ role }) => role)
      assert.deepStrictEqual(start, { system: ["Be good."], messages: [{ role: "user", content: "read alpha.txt" }] })
      assert.deepStrictEqual(roles(afterTool), ["user", "assistant", "tool"])
      // The summary, the step that stayed, and the new words.
      assert.deepStrictEqual(roles(later), ["user", "assistant", "tool", "assistant", "user"])
      assert.include(later.messages[0].content, "SUMMARY by hand")
      assert.include(compacted.messages[0].content, "SUMMARY by itself")
      const requests = payloads("before_provider_request")
      const models = [...Array.from({ length: 5 }, () => selected), ...Array.from({ length: 3 }, () => changed)]
      assert.deepStrictEqual(requests.map(({ payload: _, ...rest }) => rest), models)
      for (const { model, payload } of requests) {
        assert.strictEqual(payload.model, model)
        assert.isArray(payload.messages)
      }
      const headers = payloads("before_provider_headers")
      assert.deepStrictEqual(headers.map(({ headers: _, ...rest }) => rest), models)
      for (const each of headers) assert.strictEqual(each.headers["x-api-key"], "<redacted>")
      assert.notInclude(JSON.stringify(heard), "test-key")
      const responses = payloads(observed!)
      assert.deepStrictEqual(responses.map(({ status }) => status), [200, 529, 200, 400, 200, 200, 200, 200])
      for (const [index, { duration_ms, error_body, headers, status, ...rest }] of responses.entries()) {
        assert.deepStrictEqual(rest, index < 5 ? selected : changed)
        assert.isAtLeast(duration_ms, 0)
        assert.isString(headers["content-type"])
        assert.strictEqual(error_body === "", status < 400)
      }
      assert.include(responses[1].error_body, "overloaded_error")
      const said = { ...about, role: "assistant" }
      assert.deepStrictEqual(payloads("message_end"), [{ ...said, text: "I look." }, { ...said, text: "Done." }, { ...said, text: "" }, { ...said, text: "Welcome." }])
      assert.deepStrictEqual(payloads("tool_call").map(({ tool_call_id: _, ...rest }) => rest), ["alpha.txt", "beta.txt"].map((path) => ({ tool: "read", arguments: { path } })))
      const [{ tool_call_id: called, ...result }] = payloads("tool_result")
      assert.strictEqual(called, payloads("tool_call")[0].tool_call_id)
      assert.deepStrictEqual({ ...result, output: "" }, { tool: "read", arguments: { path: "alpha.txt" }, output: "", is_error: false })
      assert.include(result.output, "alpha line")
      assert.deepStrictEqual(payloads("turn_end"), [about, about])
      assert.deepStrictEqual(payloads("agent_settled"), [about, about])
      const before = payloads("session_before_compact")
      const tokens: Array<number> = before.map(({ tokens_before }) => tokens_before)
      assert.deepStrictEqual(before.map(({ entries: _, ...rest }) => rest), ["mind the names", "mind the names", ""].map((instruction, index) =>
        ({ ...about, instruction, tokens_before: tokens[index] })))
      assert.deepStrictEqual(before[0].entries.map(({ type }: { type: string }) => type), ["user", "assistant", "tool_result", "assistant"])
      assert.deepStrictEqual(before[2].entries.map(({ type }: { type: string }) => type), ["user", "assistant", "tool_result", "assistant", "compaction", "selection", "user", "assistant", "tool_result"])
      const [failed] = payloads("session_compact_failed")
      assert.deepStrictEqual(failed, { ...about, error: failed.error, tokens_before: tokens[0] })
      assert.include(failed.error, "scripted failure")
      assert.deepStrictEqual(payloads("session_compact"), [
        { ...about, did_compact: false, summary: "", first_kept_index: 0, tokens_before: tokens[0], message: `Compaction failed: ${failed.error}` },
        { ...about, did_compact: true, summary: "SUMMARY by hand", first_kept_index: 1, tokens_before: tokens[1], message: "Compacted context" },
        { ...about, did_compact: true, summary: "SUMMARY by itself", first_kept_index: 9, tokens_before: tokens[2], message: "Auto-compacted context" }
      ])
      assert.deepStrictEqual(payloads(settings!), [changed])
      assert.deepStrictEqual(payloads("session_before_switch"), [{ ...about, reason: "new", target_session_id: "" }])
      const next = { session_id: to, workspace }
      assert.deepStrictEqual(payloads("session_shutdown"), [{ ...about, reason: "new", target_session_id: "" }, { ...next, reason: "quit" }])
      assert.deepStrictEqual(payloads("session_end"), [{ ...about, reason: "new" }, next])
      assert.deepStrictEqual(stub.requests.map(({ problem, status }) => problem ?? status), [200, 529, 200, 400, 200, 200, 200, 200])
    }))

  // X-031 X-032 X-040 X-041 X-042 X-048 X-049 X-051 X-073 X-074 X-090
  it.live("changes words, requests and answers, and what it says in the run is answered in the run", () =>
    Effect.gen(function*() {
      const { heard, stub } = yield* withWitness(
        [{ text: "a secret" }, { text: "and more" }],
        {
          input: { text: "go on, please" },
          before_agent_start: { system_prompt: "Be brief.", message: { content: "Task: go on" } },
          turn_start: { user_message: { content: "and then?", deliver_as: "follow_up" } },
          context: { system: ["It is Monday."], messages: [{ role: "user", content: "Branch: main" }] },
          before_provider_headers: { headers: { "X-Trace": "t", "user-agent": null, "x-api-key": "<redacted>" } },
          message_end: { text: "something" }
        },
        ({ agent }) =>
          Effect.gen(function*() {
            assert.strictEqual((yield* agent.prompt({ typed: "go on" })).text, "something")
            const entries = yield* (yield* agent.session).entries
            const words = entries.map((entry) => "content" in entry ? entry.content.flatMap((part) => part.type === "text" ? [part.text] : []).join() : entry.type)
            assert.deepStrictEqual(words, ["go on, please", "Task: go on", "something", "and then?", "something"])
          })
      )
      assert.strictEqual(heard.filter(({ event }) => event === "turn_end").length, 1)
      assert.strictEqual(heard.filter(({ event }) => event === "message_end").length, 2)
      const [sent, again] = stub.requests
      assert.strictEqual(sent?.headers["x-trace"], "t")
      assert.notInclude(sent?.headers["user-agent"] ?? "", "ai-sdk")
      assert.strictEqual(sent?.headers["x-api-key"], "test-key")
      const body = JSON.stringify(sent?.body)
      for (const text of ["Be brief.", "It is Monday.", "go on, please", "Task: go on", "Branch: main"]) assert.include(body, text)
      assert.notInclude(body, "Be good.")
      assert.notInclude(JSON.stringify(again?.body), "secret")
      assert.include(JSON.stringify(again?.body), "and then?")
    }))

  it.live("takes an answer that an extension emptied for what that wants, and not for one that the model left blank", () =>
    Effect.gen(function*() {
      const { stub } = yield* withWitness(
        [{ text: "a secret" }, { text: "another" }],
        { message_end: { text: "" } },
        ({ agent }) =>
          Effect.gen(function*() {
            assert.strictEqual((yield* agent.prompt({ typed: "go on" })).text, "")
            assert.strictEqual((yield* agent.prompt({ typed: "and now?" })).text, "")
          })
      )
      assert.deepStrictEqual(stub.requests.map(({ problem, status }) => problem ?? status), [200, 200])
      assert.notInclude(JSON.stringify(stub.requests[1]?.body), "secret")
    }))
})
