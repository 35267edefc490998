import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Hooks } from "@nimlet/extension"
import { providerEvents } from "../src/ProviderEvents.ts"

const about = { session_id: "1", workspace: "/w", provider: "p", model: "m", thinking: "high" }
const request = { provider: "p", model: "m", url: "http://x.invalid" }

/** Hooks that note what they are asked and answer with other fields. */
const hooked = (asked: Array<unknown>, changes: object = {}, subscribed = (_: string) => true) =>
  providerEvents(
    Hooks.of({
      subscribed,
      run: (event, payload) => Effect.sync(() => (asked.push([event, payload]), { _tag: "Continue", payload: { ...payload, ...changes }, changedBy: [] } as never))
    }),
    () => about
  )

describe("the events around a request", () => {
  // X-048 X-070 X-071 X-072 X-075
  it.effect("replace the body as a whole, and name session, provider and model", () =>
    Effect.gen(function*() {
      const asked: Array<unknown> = []
      const { request: change } = hooked(asked, { payload: { other: 1 } })
      assert.deepStrictEqual(yield* change?.({ model: "m" }, request) ?? Effect.void, { other: 1 })
      assert.deepStrictEqual(asked, [["before_provider_request", { ...about, payload: { model: "m" } }]])
    }))

  // X-049 X-050 X-051 X-073 X-074
  it.effect("set headers, and remove those that are gone from what came back, whatever their case", () =>
    Effect.gen(function*() {
      const { headers } = hooked([], { headers: { "X-New": "1", Authorization: "<redacted>", accept: "other" } })
      const changed = yield* headers?.({ authorization: "<redacted>", accept: "a", "user-agent": "u" }, request) ?? Effect.succeed({})
      assert.deepStrictEqual(changed, { "X-New": "1", Authorization: "<redacted>", accept: "other", "user-agent": null })
    }))

  // X-052 X-053 X-054 X-055
  it.effect("tell of the response", () =>
    Effect.gen(function*() {
      const asked: Array<unknown> = []
      yield* hooked(asked).response?.({ status: 500, headers: { a: "b" }, durationMillis: 7, errorBody: "oh" }, request) ?? Effect.void
      assert.deepStrictEqual(asked, [["after_provider_response", { ...about, status: 500, headers: { a: "b" }, duration_ms: 7, error_body: "oh" }]])
    }))

  it("are absent where nobody subscribed, and there from when somebody has", () => {
    const to = new Set<string>()
    const events = hooked([], {}, (event) => to.has(event))
    assert.deepStrictEqual([events.request, events.headers, events.response], [undefined, undefined, undefined])
    to.add("before_provider_headers")
    assert.isUndefined(events.request)
    assert.isFunction(events.headers)
  })
})
