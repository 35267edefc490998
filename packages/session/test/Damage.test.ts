import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Option, Schema } from "effect"
import { type NewEntry, openSession, readSession, type SessionText } from "../src/index.ts"
import { splitLines } from "../src/SessionFile.ts"

const header = `{"type":"session","version":1,"id":"1","workspace":"/w"}\n`
const say = (text: string): NewEntry => ({ type: "user", role: "user", content: [{ type: "text", text }] })
const textsOf = (session: SessionText) =>
  session.entries.map((entry) => entry.type === "user" && "content" in entry && entry.content[0]?.type === "text" ? entry.content[0].text : entry.type)

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))
const isJson = (line: string) => Option.isSome(decodeJson(line))

/** A session over `file` as `Sessions.open` makes it, without a lock. */
const open = (file: string) =>
  Effect.flatMap(readSession(file), (existing) =>
    openSession({ id: "1", workspace: "/w", path: Option.some(file), existing: Option.some(existing) }))
const appended = (file: string, ...texts: ReadonlyArray<string>) =>
  Effect.scoped(Effect.flatMap(open(file), (session) => Effect.forEach(texts, (text) => session.append(say(text)))))

const inFolder = <A, E>(body: (folder: string) => Effect.Effect<A, E, NodeServices.NodeServices>) =>
  Effect.gen(function*() {
    return yield* body(yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped())
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

describe("a session file that was cut", () => {
  it.effect("keeps every whole line, old and new, wherever in its last 300 bytes", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const file = `${folder}/1.jsonl`
        yield* fs.writeFileString(file, header)
        const said = ["ääää", "日本語のテキスト", "a 😀 b 👩‍👩‍👧 c", "\u2028 and \u0000", "end: ﷽ ß"]
        yield* appended(file, ...said)
        const whole = yield* fs.readFile(file)
        for (let length = whole.length; length >= whole.length - 300; length--) {
          yield* fs.writeFile(file, whole.subarray(0, length))
          // A line is whole with its last bracket, its LF or not.
          const left = new TextDecoder().decode(whole.subarray(0, length)).split("\n").slice(1).filter(isJson).length
          yield* appended(file, "new ☃", "newer")
          const read = yield* readSession(file)
          assert.deepStrictEqual(textsOf(read), [...said.slice(0, left), "new ☃", "newer"], `cut at ${length}`)
          assert.isAtMost(read.damaged.length, 1)
        }
      })
    ), 60_000)

  it.effect("is closed before the first entry, not joined to it, and only once", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const file = `${folder}/1.jsonl`
        yield* fs.writeFileString(file, `${header}{"type":"us`)
        yield* appended(file, "one", "two")
        const [, torn, one, two, rest] = (yield* fs.readFileString(file)).split("\n")
        assert.strictEqual(torn, `{"type":"us`)
        assert.include(one ?? "", "one")
        assert.include(two ?? "", "two")
        assert.strictEqual(rest, "")
      })
    ))
})

describe("a session file of which a byte was changed", () => {
  /** Another bit, nothing, the end of a line, the end of a text, half a character. */
  const damages: ReadonlyArray<(byte: number) => number> = [(byte) => byte ^ 1, () => 0, () => 10, () => 34, () => 0xe6]

  it.effect("keeps every line but those that the change touches, wherever in its last 300 bytes, and goes on", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const file = `${folder}/1.jsonl`
        yield* fs.writeFileString(file, header)
        yield* appended(file, "first", "日本語のテキスト", "a 😀 b", "end: ﷽ ß")
        const whole = yield* fs.readFile(file)
        const lineAt = (at: number) => new TextDecoder().decode(whole.subarray(0, at)).split("\n").length - 1
        for (let at = whole.length - 300; at < whole.length; at++) {
          for (const damage of damages) {
            const bytes = Uint8Array.from(whole)
            bytes[at] = damage(bytes[at] ?? 0)
            yield* fs.writeFile(file, bytes)
            yield* appended(file, "new ☃")
            const read = yield* readSession(file)
            const texts = textsOf(read)
            // A lost LF makes one line of two.
            const touched = whole[at] === 10 ? [lineAt(at), lineAt(at) + 1] : [lineAt(at)]
            const kept = ["first", "日本語のテキスト", "a 😀 b", "end: ﷽ ß"].filter((_, n) => !touched.includes(n + 1))
            for (const text of kept) assert.include(texts, text, `byte ${at}`)
            assert.strictEqual(texts.at(-1), "new ☃", `byte ${at}`)
          }
        }
      })
    ), 60_000)
})

describe("a damaged session file", () => {
  it.effect("loses the damaged lines alone and tells their numbers", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const file = `${folder}/1.jsonl`
        yield* fs.writeFileString(file, header)
        yield* appended(file, "one", "two", "three")
        const lines = (yield* fs.readFileString(file)).split("\n")
        lines.splice(2, 0, "garbage", "\u0000".repeat(4096), "", `{"type":"user"}`, "[1]", `{"type":"extension","extension":"x","data":`)
        yield* fs.writeFileString(file, lines.join("\n"))
        const read = yield* readSession(file)
        assert.deepStrictEqual(textsOf(read), ["one", "two", "three"])
        assert.deepStrictEqual(read.damaged.map(({ line }) => line), [3, 4, 6, 7, 8])
        assert.isFalse(read.torn)
      })
    ))

  it.effect("keeps a line in which bytes are no UTF-8, but for these", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const file = `${folder}/1.jsonl`
        yield* fs.writeFileString(file, header)
        yield* appended(file, "a?b", "two")
        const bytes = yield* fs.readFile(file)
        bytes[bytes.indexOf("?".charCodeAt(0))] = 0xe2
        yield* fs.writeFile(file, bytes)
        const read = yield* readSession(file)
        assert.deepStrictEqual([textsOf(read), read.damaged], [["a\ufffdb", "two"], []])
      })
    ))

  it.effect("is read without its header, and with nothing but its header", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const file = `${folder}/1.jsonl`
        yield* fs.writeFileString(file, header)
        assert.deepStrictEqual((yield* readSession(file)).entries, [])
        yield* appended(file, "one")
        const [, entry] = (yield* fs.readFileString(file)).split("\n")
        yield* fs.writeFileString(file, `${header.slice(0, 20)}\n${entry}\n`)
        const read = yield* readSession(file)
        assert.deepStrictEqual(textsOf(read), ["one"])
        assert.deepStrictEqual(read.damaged.map(({ line }) => line), [1])
      })
    ))

  it.effect("says that its header is missing, and has one again, first, when it is gone on with", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const file = `${folder}/1.jsonl`
        yield* fs.writeFileString(file, header)
        yield* appended(file, "one")
        const [, entry] = (yield* fs.readFileString(file)).split("\n")
        for (const [left, lost] of [[`${entry}\n`, [1]], [`garbage\n${entry}\n`, [1]], [`${entry}\n{"type":"us`, [1, 2]]] as const) {
          yield* fs.writeFileString(file, left)
          assert.deepStrictEqual((yield* readSession(file)).damaged.map(({ line }) => line), [...lost])
          yield* Effect.scoped(open(file))
          assert.strictEqual(yield* fs.readFileString(file), left)
          yield* appended(file, "two", "three")
          const read = yield* readSession(file)
          assert.deepStrictEqual([textsOf(read), Option.getOrUndefined(read.header)?.workspace], [["one", "two", "three"], "/w"])
          assert.include((yield* fs.readFileString(file)).split("\n")[0], `"workspace":"/w"`)
          assert.deepStrictEqual(yield* fs.readDirectory(folder), ["1.jsonl"])
        }
      })
    ))

  it.effect("that is cut while it is open loses no later entry to the half line", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const file = `${folder}/1.jsonl`
        yield* fs.writeFileString(file, header)
        yield* Effect.scoped(Effect.gen(function*() {
          const session = yield* open(file)
          yield* session.append(say("one"))
          yield* session.append(say("two"))
          yield* fs.truncate(file, Number((yield* fs.stat(file)).size) - 20)
          yield* session.append(say("three"))
          yield* session.append(say("four"))
        }))
        const read = yield* readSession(file)
        assert.deepStrictEqual([textsOf(read), read.damaged.length], [["one", "three", "four"], 1])
      })
    ))

  it.effect("says that it is empty, and takes entries again", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const file = `${folder}/1.jsonl`
        yield* fs.writeFileString(file, "")
        assert.strictEqual((yield* readSession(file)).damaged.length, 1)
        yield* appended(file, "one")
        assert.deepStrictEqual(textsOf(yield* readSession(file)), ["one"])
      })
    ))

  it.effect("keeps odd texts as they were: NUL, line separators, half characters, a line of 20 MB", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const file = `${folder}/1.jsonl`
        yield* fs.writeFileString(file, header)
        const texts = ["\u0000", "a\u2028b\u2029c\u0085d\r\n", "\ud800", "x\udc00y", "\ufeff", "ä😀".repeat(4_000_000)]
        yield* appended(file, ...texts)
        const read = yield* readSession(file)
        assert.deepStrictEqual(read.damaged, [])
        assert.isTrue(textsOf(read).every((text, at) => text === texts[at]) && read.entries.length === texts.length)
      })
    ), 30_000)
})

describe("a file that is no session", () => {
  const refused = (make: (file: string, fs: FileSystem.FileSystem) => Effect.Effect<void, unknown>) =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const file = `${folder}/1.jsonl`
        yield* Effect.orDie(make(file, yield* FileSystem.FileSystem))
        const error = yield* Effect.flip(readSession(file))
        assert.strictEqual(error._tag, "SessionUnreadable")
        assert.strictEqual(error.path, file)
        return error.cause
      })
    )

  it.effect("is refused: bytes of anything", () =>
    Effect.gen(function*() {
      const bytes = Uint8Array.from({ length: 5000 }, (_, at) => (at * 7919) % 256)
      assert.include(yield* refused((file, fs) => fs.writeFile(file, bytes)), "no session")
    }))

  it.effect("is refused: lines of another program", () =>
    Effect.gen(function*() {
      assert.include(yield* refused((file, fs) => fs.writeFileString(file, `{"type":"session","cwd":"/x"}\n{"type":"message","id":"1"}\n`)), "no session")
    }))

  it.effect("is refused: a folder, and one that is not there", () =>
    Effect.gen(function*() {
      assert.include(yield* refused((file, fs) => fs.makeDirectory(file)), "no regular file")
      assert.include(yield* refused(() => Effect.void), "ENOENT")
    }))
})

describe("splitLines", () => {
  const Pieces = Schema.Array(Schema.Literals(["a", "ä", "😀", "\n", "\r", "\u2028", "", "\u0000"]))

  it.effect.prop("gives the same lines however the bytes come", [Pieces, Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 7 }))], ([pieces, step]) =>
    Effect.sync(() => {
      const text = pieces.join("")
      const bytes = new TextEncoder().encode(text)
      const lines: Array<string | undefined> = []
      const { end, push } = splitLines((line, number) => {
        assert.strictEqual(number, lines.length + 1)
        lines.push(line)
      })
      for (let at = 0; at < bytes.length; at += step) push(bytes.subarray(at, at + step))
      const torn = end()
      assert.deepStrictEqual(torn ? lines : [...lines, ""], text.split("\n"))
    }))

  it("gives up a line that is too long, and that line alone", () => {
    const lines: Array<string | undefined> = []
    const { end, push } = splitLines((line) => lines.push(line), 4)
    push(new TextEncoder().encode("abcd\nabc"))
    push(new TextEncoder().encode("de\nf\n"))
    assert.isFalse(end())
    assert.deepStrictEqual(lines, ["abcd", undefined, "f"])
  })
})
