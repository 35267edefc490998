import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { applyReplacements, nearLines } from "../src/EditMatch.ts"

const lines = Schema.Array(Schema.Literals(["a", "bb", "", "  x", "ü😀"]))
const ending = Schema.Literals(["\n", "\r\n"])
const apply = (text: string, oldText: string, newText: string) => applyReplacements(text, [{ oldText, newText }])
const textOf = (result: ReturnType<typeof apply>) => Result.getOrThrow(result).text

describe("EditMatch", () => {
  it.effect.prop("changes the one place and no other byte, with the file's own line ends", [lines, lines, lines, ending, ending], ([before, inserted, after, file, asked]) =>
    Effect.sync(() => {
      const wanted = ["<mark>", "second"]
      const text = [...before, ...wanted, ...after].join(file)
      const result = apply(text, wanted.join(asked), ["new", ...inserted].join(asked))
      assert.strictEqual(textOf(result), [...before, "new", ...inserted, ...after].join(file))
    }))

  it.effect.prop("names the touched lines", [lines, lines, lines], ([before, inserted, after]) =>
    Effect.sync(() => {
      const result = Result.getOrThrow(apply([...before, "<mark>", ...after].join("\n"), "<mark>", ["<new>", ...inserted, "</new>"].join("\n")))
      const span = result.spans[0]
      assert.deepStrictEqual(result.text.split("\n").slice(span!.first - 1, span!.last), ["<new>", ...inserted, "</new>"])
    }))

  it.effect.prop("a second text twice in the file changes nothing, whatever comes first", [lines, ending], ([between, file]) =>
    Effect.sync(() => {
      const text = ["one", "two", ...between, "two"].join(file)
      const result = applyReplacements(text, [{ oldText: "one", newText: "1" }, { oldText: "two", newText: "2" }])
      assert.deepStrictEqual(result, Result.fail({ reason: "repeated", index: 1, count: 2, lines: [2, 3 + between.length] }))
    }))

  it("each replacement sees what the one before left", () => {
    const result = Result.getOrThrow(applyReplacements("a\nb\n", [{ oldText: "a", newText: "c\nd" }, { oldText: "d\nb", newText: "e" }]))
    assert.deepStrictEqual(result, { text: "c\ne\n", spans: [{ first: 1, last: 2 }] })
  })

  it("a text that overlaps itself counts as repeated", () => {
    assert.deepStrictEqual(apply("aaa", "aa", "b"), Result.fail({ reason: "repeated", index: 0, count: 2, lines: [1, 1] }))
  })

  it("an empty old text and one equal to the new are refused, also when only line ends differ", () => {
    assert.deepStrictEqual(apply("a", "", "b"), Result.fail({ reason: "empty", index: 0 }))
    assert.deepStrictEqual(apply("a\r\nb", "a\nb", "a\r\nb"), Result.fail({ reason: "same", index: 0 }))
  })

  it("a one-line text put in place of a line break keeps a CRLF file consistent", () => {
    assert.strictEqual(textOf(apply("a\r\nb\r\nc\r\n", "b", "x\ny")), "a\r\nx\r\ny\r\nc\r\n")
    assert.strictEqual(textOf(apply("a\r\nb\r\nc\r\n", "a\nb", "ab")), "ab\r\nc\r\n")
  })

  it("a file with both line ends keeps those of the place", () => {
    assert.strictEqual(textOf(apply("a\r\nb\nc\nd\r\ne\r\n", "b\nc\n", "x\ny\n")), "a\r\nx\ny\nd\r\ne\r\n")
  })

  it("near lines are those that differ little or only in blanks", () => {
    assert.deepStrictEqual(nearLines("zzz\n    return value + 1\nreturn values\n", "return value + 1\nmore"), [{ line: 2, text: "    return value + 1" }, { line: 3, text: "return values" }])
    assert.deepStrictEqual(nearLines("abc", "  \n"), [])
  })
})
