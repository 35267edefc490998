import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { parseJson } from "../src/Json.ts"

describe("parseJson", () => {
  it("takes whole characters only: a half is U+FFFD, in names and in values, and nothing else changes", () => {
    const half = "ok 🐎".slice(0, 4)
    const parsed = (value: unknown) => Result.getOrThrow(parseJson(JSON.stringify(value)))
    assert.deepStrictEqual(parsed({ [half]: [half, { deep: `${half}!` }] }), { "ok \ufffd": ["ok \ufffd", { deep: "ok \ufffd!" }] })
    assert.deepStrictEqual(parsed(["\udc0e\ud83d", "\ud83d\ud83d\udc0e"]), ["\ufffd\ufffd", "\ufffd🐎"])
    const kept = ["🐎", "\\ud83d", "\\\\ud83d\\", "\u0000\n\"\\", "plain"]
    assert.deepStrictEqual(parsed(kept), kept)
    assert.deepStrictEqual(Result.getOrThrow(parseJson('["\\uD83D\\uDC0E","\\uD83D","\\\\uD83D"]')), ["🐎", "\ufffd", "\\uD83D"])
    assert.isTrue(Result.isFailure(parseJson('"\\ud8')))
  })
})
