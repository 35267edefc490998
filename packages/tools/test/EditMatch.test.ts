import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { applyReplacements } from "../src/EditMatch.ts"
import { nearLines } from "../src/NearLines.ts"
import { decodeFile, encodeFile } from "../src/TextEncoding.ts"

const lines = Schema.Array(Schema.Literals(["a", "bb", "", "  x", "ü😀"]))
const fragment = Schema.Literals(["a", "$&", "$1", "$$", "\\n", "\n", "\r\n", "\r", "é", "😀", "\ufeff", " "])
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

  it.effect.prop("no byte outside the match changes, whatever ends, encoding, marks and dollar signs there are", [
    Schema.Array(fragment), Schema.Array(fragment), Schema.Array(fragment), Schema.Literals(["UTF-8", "UTF-16LE", "UTF-16BE", "Latin-1"]), Schema.Boolean
  ], ([before, inserted, after, encoding, all]) =>
    Effect.sync(() => {
      const mark = Uint8Array.from(encoding === "UTF-16LE" ? [0xff, 0xfe] : encoding === "UTF-16BE" ? [0xfe, 0xff] : [])
      // What is no UTF-8 makes it Latin-1.
      const fit = (parts: ReadonlyArray<string>) => encoding === "Latin-1" ? parts.join("").replaceAll(/[^\0-\xff]/gu, "\xe9\xff") : parts.join("")
      const start = encoding === "Latin-1" ? `\xff${fit(before)}` : fit(before)
      const bytesOf = (text: string) => Buffer.from(encodeFile(text, { text, encoding, mark }))
      const file = decodeFile(bytesOf(`${start}<here>${fit(after)}`))
      assert.strictEqual(file?.encoding, encoding)
      const result = Result.getOrThrow(applyReplacements(file!.text, [{ oldText: "<here>", newText: `[${fit(inserted)}]`, all }]))
      const bytes = Buffer.from(encodeFile(result.text, file!))
      const [head, tail] = [bytesOf(`${start}[`), bytesOf(`]${fit(after)}`).subarray(mark.length)]
      assert.deepStrictEqual(bytes.subarray(0, head.length), head)
      assert.deepStrictEqual(bytes.subarray(bytes.length - tail.length), tail)
      const middle = decodeFile(Buffer.concat([bytesOf("["), bytes.subarray(head.length, bytes.length - tail.length)]))
      // Only what ends the lines of the new text is the file's affair.
      assert.strictEqual(middle?.text.replaceAll(/\r+\n/g, "\n"), `[${fit(inserted)}`.replaceAll(/\r+\n/g, "\n"))
    }))

  it.effect.prop("all occurrences are replaced as one after the other would be", [Schema.Array(Schema.Literals(["aa", "a", "b", "\r\n", "\n"])), Schema.Literals(["", "c", "\n", "$&"])], ([parts, newText]) =>
    Effect.sync(() => {
      const text = `aa${parts.join("")}`
      const result = Result.getOrThrow(applyReplacements(text, [{ oldText: "aa", newText, all: true }]))
      const crlf = (text.split("\r\n").length - 1) * 2 > text.split("\n").length - 1
      assert.strictEqual(result.text, text.split("aa").join(newText === "\n" && crlf ? "\r\n" : newText))
      assert.strictEqual(result.places, text.split("aa").length - 1)
    }))

  it("lines that old and new text share keep their own ends, and are not named", () => {
    const result = Result.getOrThrow(apply("a\r\nb\nc\r\nd\n", "a\nb\nc\nd\n", "a\nB\nB2\nc\nd\n"))
    assert.deepStrictEqual(result, { text: "a\r\nB\nB2\nc\r\nd\n", places: 1, spans: [{ first: 2, last: 3 }] })
    assert.strictEqual(textOf(apply("x\r\nx\ny", "x\nx\ny", "x\ny")), "x\r\ny")
  })

  it("spans move with what later replacements do before, within and after them", () => {
    const steps = [{ oldText: "c", newText: "C\nCC" }, { oldText: "a\n", newText: "" }, { oldText: "CC\nd", newText: "D" }, { oldText: "z", newText: "0\n1", all: true }]
    const result = Result.getOrThrow(applyReplacements("z\na\nb\nc\nd\ne\nz\n", steps))
    assert.deepStrictEqual(result, { text: "0\n1\nb\nC\nD\ne\n0\n1\n", places: 5, spans: [{ first: 1, last: 2 }, { first: 3, last: 3 }, { first: 4, last: 5 }, { first: 7, last: 8 }] })
    const shrunk = [{ oldText: "x", newText: "XYZW" }, { oldText: "YZWbcd", newText: "q" }]
    assert.deepStrictEqual(Result.getOrThrow(applyReplacements("axbcd\ne", shrunk)).spans, [{ first: 1, last: 1 }])
  })

  it.effect.prop("exactly the lines that hold a new character are named, after any steps", [
    Schema.Array(Schema.Literals(["a", "b", "ab", "\n", "c"])),
    Schema.Array(Schema.Tuple([Schema.Literals(["a", "ab", "b", "bc", "caab", "aaba"]), Schema.Literals(["c", "b\na", "a\n", "caab"])]))
  ], ([parts, steps]) =>
    Effect.sync(() => {
      let text = parts.join("")
      let touched = Array.from(text, () => false)
      const done: Array<{ oldText: string; newText: string; all: boolean }> = []
      for (const [oldText, newText] of steps.slice(0, 4)) {
        if (!text.includes(oldText) || String(oldText) === newText) continue
        done.push({ oldText, newText, all: true })
        for (let at = text.indexOf(oldText); at !== -1; at = text.indexOf(oldText, at + newText.length)) {
          text = text.slice(0, at) + newText + text.slice(at + oldText.length)
          touched = [...touched.slice(0, at), ...Array.from(newText, () => true), ...touched.slice(at + oldText.length)]
        }
      }
      const expected = new Set(touched.flatMap((isNew, at) => isNew ? [text.slice(0, at).split("\n").length] : []))
      const result = Result.getOrThrow(applyReplacements(parts.join(""), done))
      assert.strictEqual(result.text, text)
      assert.deepStrictEqual(result.spans.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, i) => first + i)), [...expected])
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
    assert.deepStrictEqual(result, { text: "c\ne\n", places: 2, spans: [{ first: 1, last: 2 }] })
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
