import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Schema, Stream } from "effect"
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as AiSdk from "../src/AiSdk.ts"
import { applyHeaders, makeHookedFetch, redact, REDACTED } from "../src/HookedFetch.ts"
import { ProviderHooks, type ProviderRequest } from "../src/ProviderHooks.ts"
import { connect } from "../src/providers/openai-compatible.ts"
import { Redacted } from "effect"
import { chat, head, event, serve } from "./Loopback.ts"

const answer = (response: import("node:http").ServerResponse) => {
  response.setHeader("set-cookie", "secret=1")
  response.setHeader("x-request-id", "r1")
  head(response)
  response.end([chat.delta({ content: "ok" }), chat.delta({}, "stop"), chat.usage].map(event).join(""))
}
const make = (url: string) => {
  const connection = connect({ provider: "p", model: "m", baseURL: `${url}/v1`, apiKey: Redacted.make("secret-key"), headers: {}, thinks: true })
  return AiSdk.make({ provider: "p", model: "m", connect: Effect.succeed(connection) })
}
const ask = (model: LanguageModel.LanguageModel, hooks: ProviderHooks) =>
  Stream.runDrain(model.streamText({ prompt: "hi" })).pipe(Effect.provideService(ProviderHooks, hooks))

describe("hooks", () => {
  it.live("change the payload and the headers of the request, and see the response", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* serve(answer)
      const seen: Array<unknown> = []
      yield* Effect.flatMap(make(url), (model) => ask(model, {
        request: (payload, about) => Effect.sync(() => {
          seen.push(about)
          return { ...payload as object, temperature: 0 }
        }),
        headers: (headers) => Effect.sync(() => {
          seen.push(headers["authorization"])
          return { "X-Trace": "t", "user-agent": null, authorization: REDACTED }
        }),
        response: ({ headers, status }) => Effect.sync(() => seen.push([status, headers["x-request-id"], headers["set-cookie"]]))
      }))
      const about: ProviderRequest = { provider: "p", model: "m", url: `${url}/v1/chat/completions` }
      assert.deepStrictEqual(seen, [about, REDACTED, [200, "r1", undefined]])
      assert.strictEqual(requests[0]!.body.temperature, 0)
      assert.strictEqual(requests[0]!.headers["x-trace"], "t")
      assert.strictEqual(requests[0]!.headers.authorization, "Bearer secret-key")
      assert.notInclude(String(requests[0]!.headers["user-agent"]), "ai-sdk")
    }))

  it.live("see an error's body, which is then read by the provider's code all the same, and none of a good answer", () =>
    Effect.gen(function*() {
      const body = JSON.stringify({ error: { message: "no such model", type: "invalid_request_error" } })
      const { url } = yield* serve((response, count) => {
        if (count > 0) return answer(response)
        response.statusCode = 404
        response.setHeader("content-type", "application/json")
        response.end(body)
      })
      const seen: Array<unknown> = []
      const hooks: ProviderHooks = {
        response: ({ durationMillis, errorBody, status }) => Effect.sync(() => seen.push([status, errorBody, durationMillis >= 0]))
      }
      const model = yield* make(url)
      const error = yield* Effect.flip(ask(model, hooks))
      assert.include(error.message, "no such model")
      yield* ask(model, hooks)
      assert.deepStrictEqual(seen, [[404, body, true], [200, "", true]])
    }))

  it.live("may replace and remove the credential", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* serve(answer)
      const model = yield* make(url)
      yield* ask(model, { headers: () => Effect.succeed({ Authorization: "Bearer other" }) })
      yield* ask(model, { headers: () => Effect.succeed({ authorization: null }) })
      assert.deepStrictEqual(requests.map((request) => request.headers.authorization), ["Bearer other", undefined])
    }))

  it.live("run in the context of the fiber that asks", () =>
    Effect.gen(function*() {
      const Who = Context.Reference("test/Who", { defaultValue: () => "nobody" })
      const { url } = yield* serve(answer)
      const seen: Array<string> = []
      const model = yield* make(url)
      const hooks: ProviderHooks = { response: () => Effect.flatMap(Who, (who) => Effect.sync(() => seen.push(who))) }
      yield* Effect.forEach(["a", "b"], (who) => Effect.provideService(ask(model, hooks), Who, who), { concurrency: 1 })
      assert.deepStrictEqual(seen, ["a", "b"])
    }))

  it.effect("cost nothing when there are none: the request goes out untouched", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const init = { method: "POST", body: "not even JSON", headers: { a: "b" } }
      const { fetch } = yield* makeHookedFetch({
        provider: "p",
        model: "m",
        requestTimeout: Duration.seconds(1),
        fetch: async (_, given) => {
          seen.push(given)
          return new Response(null)
        }
      })
      yield* Effect.promise(() => fetch("http://x.invalid", init))
      assert.strictEqual(seen[0], init)
    }))
})

describe("headers", () => {
  const Names = Schema.Literals(["authorization", "x-api-key", "x-goog-api-key", "accept", "x-other"])
  it.effect.prop("hooks that give back what they got change nothing", [Schema.Record(Names, Schema.String)], ([headers]) =>
    Effect.sync(() => assert.deepStrictEqual(applyHeaders(headers, redact(headers)), headers)))

  it.effect.prop("no credential reaches a hook", [Schema.Record(Names, Schema.String)], ([headers]) =>
    Effect.sync(() => {
      for (const name of ["authorization", "x-api-key", "x-goog-api-key"] as const) {
        if (name in headers) assert.strictEqual(redact(headers)[name], REDACTED)
      }
    }))
})
