/** The whole of a session as a real extension process hears it, over real layers and a provider on loopback. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem, Layer, Path } from "effect"
import { Extensions, Hooks, rootsOf } from "@nimlet/extension"
import { HookEvents } from "@nimlet/protocol"
import { Models } from "@nimlet/provider"
import { Sessions } from "@nimlet/session"
import { builtins, layerLocal, localTools } from "@nimlet/tools"
import { startModelStub } from "../../../test/kit/ModelStub.ts"
import { Agent, reservedToolNames } from "../src/index.ts"

/** An extension that subscribes to every event, writes down name and payload, and answers as its folder says. */
const witness = `#!/usr/bin/env node
import { appendFileSync, readFileSync } from "node:fs"
import { createInterface } from "node:readline"
const answers = JSON.parse(readFileSync(new URL("answers.json", import.meta.url), "utf8"))
console.log(JSON.stringify({ type: "register", commands: [], events: ${JSON.stringify(Object.keys(HookEvents))} }))
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

/** A workspace and a home with the extension in it, an agent over a stub that plays `scenario`, and what was heard in the end. */
const withWitness = (
  scenario: Parameters<typeof startModelStub>[0],
  answers: object,
  body: (agent: Agent["Service"]) => Effect.Effect<unknown, unknown>
) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const root = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
    const [workspace, home] = [path.join(root, "work"), path.join(root, "home")]
    const folder = path.join(home, ".niminal/extensions/witness")
    yield* fs.makeDirectory(workspace)
    yield* fs.makeDirectory(folder, { recursive: true })
    yield* fs.writeFileString(path.join(workspace, "a.txt"), "alpha\n")
    yield* fs.writeFileString(path.join(folder, "extension.json"), JSON.stringify({ name: "witness", command: ["./witness.mjs"] }))
    yield* fs.writeFileString(path.join(folder, "witness.mjs"), witness, { mode: 0o755 })
    yield* fs.writeFileString(path.join(folder, "answers.json"), JSON.stringify(answers))
    const stub = yield* Effect.acquireRelease(Effect.promise(() => startModelStub(scenario)), (started) => Effect.promise(() => started.close()))
    const services = Layer.mergeAll(
      Layer.provideMerge(Hooks.layer, Extensions.layer),
      Sessions.layer(path.join(root, "sessions")),
      Models.layer({ environment: { ANTHROPIC_BASE_URL: stub.url, ANTHROPIC_API_KEY: "test-key" }, home }),
      layerLocal({ workspace })
    )
    yield* Effect.gen(function*() {
      const session = yield* (yield* Sessions).create({ workspace, persist: true })
      const { info, layer: model } = yield* (yield* Models).resolve({ provider: "anthropic", model: "claude-sonnet-4-6" })
      const agent = Agent.layer({
        ...info,
        session,
        system: "Be good.",
        tools: yield* localTools(builtins()),
        extensions: ({ id }) =>
          Effect.succeed({
            roots: rootsOf({ home, workspace, trusted: false }),
            paths: [],
            workspace,
            sessionId: id,
            trusted: false,
            mode: "text",
            logs: path.join(root, "logs"),
            environment: { PATH: [path.dirname(process.execPath), process.env["PATH"]].join(":"), HOME: home },
            reservedTools: reservedToolNames
          })
      })
      yield* Effect.flatMap(Agent, body).pipe(Effect.provide(Layer.provide(agent, model)))
    }).pipe(Effect.scoped, Effect.provide(services))
    const text = yield* fs.readFileString(path.join(workspace, "heard.jsonl"))
    const heard = text.trimEnd().split("\n").map((line) => JSON.parse(line) as Heard)
    return { heard, stub, workspace }
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

describe("an extension that subscribed to everything", () => {
  // E-159 E-160 E-162 E-163 E-166 E-167 E-195 E-199 E-201 E-203 E-204 X-029 X-030 X-033 X-034 X-043 X-045 X-047 X-052
  // X-053 X-054 X-055 X-058 X-066 X-067 X-070 X-071 X-072 X-076 X-077 X-078 X-081
  it.live("hears of two turns, a failed request, a new session and the quit, in order and with all fields", () =>
    Effect.gen(function*() {
      const ids: Array<string> = []
      const { heard, stub, workspace } = yield* withWitness(
        [{ text: "I look.", tools: [{ name: "read", args: { path: "a.txt" } }] }, { status: 529, times: 1, text: "Done." }, { text: "Welcome." }],
        {},
        (agent) =>
          Effect.gen(function*() {
            assert.isTrue((yield* agent.prompt({ typed: "read a.txt" })).success)
            assert.isTrue((yield* agent.prompt({ typed: "thanks" })).success)
            ids.push((yield* agent.session).id, (yield* agent.newSession).session.id)
          })
      )
      assert.deepStrictEqual(heard.map(({ event }) => event), [
        "session_start",
        "input", "before_agent_start", "turn_start",
        "context", ...request, "message_end", "tool_call", "tool_result",
        "context", ...request, ...request, "message_end",
        "turn_end", "agent_settled",
        "input", "before_agent_start", "turn_start", "context", ...request, "message_end", "turn_end", "agent_settled",
        "session_before_switch", "session_shutdown", "session_end",
        "session_start",
        "session_shutdown", "session_end"
      ])
      // A session has processes of its own.
      const [first, second] = [...new Set(heard.map(({ pid }) => pid))]
      assert.deepStrictEqual(heard.slice(-3).map(({ pid }) => pid), [second, second, second])
      assert.strictEqual(heard[0]?.pid, first)

      const [from, to] = ids
      const about = { session_id: from, workspace }
      const selected = { ...about, provider: "anthropic", model: "claude-sonnet-4-6", thinking: "" }
      const payloads = (name: string) => heard.flatMap(({ event, payload }) => event === name ? [payload] : [])
      assert.deepStrictEqual(payloads("session_start"), [selected, { ...selected, session_id: to }])
      assert.deepStrictEqual(payloads("input"), [{ ...about, text: "read a.txt", images: [] }, { ...about, text: "thanks", images: [] }])
      assert.deepStrictEqual(payloads("before_agent_start")[0], { ...about, prompt: "read a.txt", images: [], system_prompt: "Be good." })
      assert.deepStrictEqual(payloads("turn_start"), [about, about])
      const [start, afterTool, later] = payloads("context")
      assert.deepStrictEqual(start, { system: ["Be good."], messages: [{ role: "user", content: "read a.txt" }] })
      assert.deepStrictEqual(afterTool.messages.map(({ role }: { role: string }) => role), ["user", "assistant", "tool"])
      assert.deepStrictEqual(later.messages.map(({ role }: { role: string }) => role), ["user", "assistant", "tool", "assistant", "user"])
      for (const { payload, ...rest } of payloads("before_provider_request")) {
        assert.deepStrictEqual(rest, selected)
        assert.strictEqual(payload.model, "claude-sonnet-4-6")
        assert.isArray(payload.messages)
      }
      for (const { headers, ...rest } of payloads("before_provider_headers")) {
        assert.deepStrictEqual(rest, selected)
        assert.strictEqual(headers["x-api-key"], "<redacted>")
      }
      assert.notInclude(JSON.stringify(heard), "test-key")
      const responses = payloads("after_provider_response")
      assert.deepStrictEqual(responses.map(({ status }) => status), [200, 529, 200, 200])
      for (const { duration_ms, error_body, headers, status, ...rest } of responses) {
        assert.deepStrictEqual(rest, selected)
        assert.isAtLeast(duration_ms, 0)
        assert.isString(headers["content-type"])
        assert.strictEqual(error_body === "", status < 400)
      }
      assert.include(responses[1].error_body, "overloaded_error")
      const said = { ...about, role: "assistant" }
      assert.deepStrictEqual(payloads("message_end"), [{ ...said, text: "I look." }, { ...said, text: "Done." }, { ...said, text: "Welcome." }])
      assert.deepStrictEqual(payloads("tool_call"), [{ tool: "read", arguments: { path: "a.txt" } }])
      const [result] = payloads("tool_result")
      assert.deepStrictEqual({ ...result, output: "" }, { tool: "read", arguments: { path: "a.txt" }, output: "", is_error: false })
      assert.include(result.output, "alpha")
      assert.deepStrictEqual(payloads("turn_end"), [about, about])
      assert.deepStrictEqual(payloads("agent_settled"), [about, about])
      assert.deepStrictEqual(payloads("session_before_switch"), [{ ...about, reason: "new", target_session_id: "" }])
      const next = { session_id: to, workspace }
      assert.deepStrictEqual(payloads("session_shutdown"), [{ ...about, reason: "new", target_session_id: "" }, { ...next, reason: "quit" }])
      assert.deepStrictEqual(payloads("session_end"), [{ ...about, reason: "new" }, next])
      assert.strictEqual(stub.requests.length, 4)
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
        (agent) =>
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
})
