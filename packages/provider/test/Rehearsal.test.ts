/** What each wire format's sample comes to in its SDK: a whole answer, so that the checks of a real one are made. */
import { assert, describe, it } from "@effect/vitest"
import { rehearse } from "../src/AiSdk/Rehearsal.ts"
import * as anthropic from "../src/providers/anthropic.ts"
import * as google from "../src/providers/google.ts"
import * as mistral from "../src/providers/mistral.ts"
import * as chat from "../src/providers/openai-chat.ts"
import * as compatible from "../src/providers/openai-compatible.ts"
import * as responses from "../src/providers/openai-responses.ts"

describe("the sample", () => {
  for (const [name, { connect, sample }] of Object.entries({ anthropic, google, mistral, chat, compatible, responses })) {
    it(`of ${name} is a whole answer to its SDK`, async () => {
      const { model } = connect({ provider: name, model: "m", baseURL: "http://localhost", headers: {}, apiKey: undefined, thinks: false })
      const parts = await rehearse(model, sample)
      assert.deepStrictEqual(parts.filter(({ type }) => type === "error"), [])
      assert.strictEqual(parts.flatMap((part) => part.type === "text-delta" ? [part.delta] : []).join(""), ".")
      assert.deepStrictEqual(parts.flatMap((part) => part.type === "finish" ? [part.finishReason.unified] : []), ["stop"])
    })
  }
})
