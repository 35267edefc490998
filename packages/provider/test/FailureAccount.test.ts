import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import * as AiError from "effect/ai/AiError"
import { accountOf } from "../src/FailureAccount.ts"

const account = (reason: AiError.AiErrorReason) => accountOf(AiError.make({ module: "anthropic", method: "streamText", reason }))

describe("the account of a failure", () => {
  it("names the provider and what helps", () => {
    assert.include(account(new AiError.AuthenticationError({ kind: "InvalidKey" })), "auth.json")
    assert.include(account(new AiError.RateLimitError({ retryAfter: Duration.hours(1) })), "1h")
    assert.match(account(new AiError.RateLimitError({ retryAfter: Duration.millis(6_100) })), /try again in 7s$/)
    assert.notInclude(account(new AiError.RateLimitError({ retryAfter: Duration.zero })), "try again")
    const unreachable = new AiError.NetworkError({ reason: "TransportError", method: "POST", url: "http://127.0.0.1:1/v1", description: "connection refused" })
    assert.include(account(unreachable), "http://127.0.0.1:1/v1")
  })

  it("is one line, whatever the provider said, and says it too", () => {
    const text = account(new AiError.InvalidOutputError({ description: "not JSON at 3\nat line 2\nat line 3" }))
    assert.include(text, "not JSON at 3")
    assert.notInclude(text, "\n")
  })
})
