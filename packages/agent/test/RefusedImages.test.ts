/** Images that a provider refuses: the session goes on without them, in this process and in later ones. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as AiError from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import type { ContentPart } from "@nimlet/protocol"
import { transcript } from "@nimlet/session"
import { calls, type Reply, refuses, says, tool, withAgent } from "./Rig.ts"

const image = (data: string): ContentPart & { readonly type: "image" } => ({ type: "image", mimeType: "image/png", data })
const filesIn = (request: LanguageModel.ProviderOptions | undefined): ReadonlyArray<string> => JSON.stringify(request?.prompt ?? {}).match(/AAA[A-Z]/g) ?? []
const badImage = refuses(new AiError.InvalidRequestError({ description: "messages.0.content.1.image: Could not process image" }))
const picky = (bad: string, answer: Reply) => (request: LanguageModel.ProviderOptions) => filesIn(request).includes(bad) ? badImage : answer

describe("an image that the provider refuses", () => {
  it.effect("is left out, which the user is told and the model too, and the session goes on, also when it is opened again", () =>
    withAgent({ replies: picky("AAAB", says("fine")) }, ({ agent, asked, entries, events, prompt }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* agent.prompt({ typed: "look", attached: [image("AAAB"), image("AAAC")] }), { success: true, text: "fine" })
        assert.strictEqual(asked.length, 2)
        assert.deepStrictEqual(events.flatMap((event) => event.type === "diagnostic" ? [event.message] : []), [
          "Test refused the request: messages.0.content.1.image: Could not process image; trying again without the 2 images that model-1 has not answered to yet"
        ])
        assert.include(JSON.stringify(asked[1]?.prompt), "[An image was left out")
        assert.isTrue((yield* prompt("and now?")).success)
        assert.strictEqual(asked.length, 3)
        const again = JSON.stringify(transcript(yield* entries))
        assert.notInclude(again, "AAAB")
        assert.include(again, "and now?")
        assert.include(JSON.stringify(yield* entries), "AAAB")
      })))

  it.effect("may be refused by a server that takes no request that large", () =>
    withAgent({
      replies: (request) => filesIn(request).length > 0 ? refuses(new AiError.InvalidRequestError({ description: "Request Entity Too Large", parameter: "prompt", constraint: "exceeds the context window", http: { response: { status: 413, headers: {} } } })) : says("fine")
    }, ({ agent, prompt }) =>
      Effect.gen(function*() {
        assert.isTrue((yield* agent.prompt({ typed: "look", attached: [image("AAAB")] })).success)
        assert.isTrue((yield* prompt("and now?")).success)
      })))

  it.effect("takes none with it that the model has answered to, and may be a tool's", () =>
    withAgent({
      replies: (request) =>
        filesIn(request).includes("AAAB") ? badImage : JSON.stringify(request.prompt).includes("left out") ? says("seen without") : filesIn(request).length > 1 || JSON.stringify(request.prompt).includes("second") ? calls({ name: "look" }) : says("seen"),
      tools: [tool("look", { run: () => Effect.succeed({ content: [{ type: "text", text: "shot" }, image("AAAB")], isError: false }) })]
    }, ({ agent, asked, prompt }) =>
      Effect.gen(function*() {
        yield* agent.prompt({ typed: "first", attached: [image("AAAC")] })
        assert.deepStrictEqual(yield* prompt("second"), { success: true, text: "seen without" })
        assert.deepStrictEqual(filesIn(asked.at(-1)), ["AAAC"])
      })))

  it.effect("is not looked for where there is none: the run fails with what the provider said", () =>
    withAgent({ replies: () => badImage }, ({ asked, events, prompt }) =>
      Effect.gen(function*() {
        assert.isFalse((yield* prompt("hi")).success)
        assert.strictEqual(asked.length, 1)
        assert.deepStrictEqual(events.flatMap((event) => event.type === "error" ? [event.message] : []), ["Test refused the request: messages.0.content.1.image: Could not process image"])
      })))

  it.effect("is tried without once, whatever comes then", () =>
    withAgent({ replies: () => badImage }, ({ agent, asked }) =>
      Effect.gen(function*() {
        assert.isFalse((yield* agent.prompt({ typed: "look", attached: [image("AAAB")] })).success)
        assert.strictEqual(asked.length, 2)
      })))
})
