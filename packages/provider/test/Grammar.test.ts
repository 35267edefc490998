import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { readPrompt, type Step } from "../src/Offline/Grammar.ts"

const steps = (text: string): ReadonlyArray<Step> | undefined => {
  const reading = readPrompt(text)
  return reading._tag === "Steps" ? reading.steps : undefined
}
const calls = (text: string) => steps(text)?.map(({ args, tool }) => [tool, args])

const cases: ReadonlyArray<readonly [string, ReadonlyArray<readonly [string, object]>]> = [
  ["list the files here", [["ls", { path: "." }]]],
  ["Please show me all the files in the current directory.", [["ls", { path: "." }]]],
  ["list files in src/", [["ls", { path: "src/" }]]],
  ["what files are here?", [["ls", { path: "." }]]],
  ["find files named *.ts", [["glob", { pattern: "**/*.ts" }]]],
  ["read README.md", [["read", { path: "README.md" }]]],
  ["read README.md.", [["read", { path: "README.md" }]]],
  ["show me package.json", [["read", { path: "package.json" }]]],
  ["read `my file.txt` lines 3-7", [["read", { path: "my file.txt", start_line: 3, end_line: 7 }]]],
  ["read a.txt from line 4", [["read", { path: "a.txt", start_line: 4, end_line: 4 }]]],
  ["show the first 5 lines of a.txt", [["read", { path: "a.txt", start_line: 1, end_line: 5 }]]],
  ["find a.b in src", [["grep", { pattern: "a\\.b", path: "src" }]]],
  ["grep a.b in *.ts", [["grep", { pattern: "a.b", glob: "*.ts" }]]],
  ["search for \"x and y\"", [["grep", { pattern: "x and y" }]]],
  ["write notes.txt with hello there", [["write", { path: "notes.txt", content: "hello there" }]]],
  ["create a new file called a.txt with \"one\\ntwo\\n\"", [["write", { path: "a.txt", content: "one\ntwo\n" }]]],
  ["create empty.txt", [["write", { path: "empty.txt", content: "" }]]],
  ["overwrite a.txt with z", [["write", { path: "a.txt", content: "z", overwrite: true }]]],
  ["replace foo with bar in a.txt", [["edit", { path: "a.txt", old_text: "foo", new_text: "bar" }]]],
  ["replace \"a in b\" with \"\" in `x y.txt`", [["edit", { path: "x y.txt", old_text: "a in b", new_text: "" }]]],
  ["run `echo a then b`", [["bash", { command: "echo a then b" }]]],
  ["run npm test", [["bash", { command: "npm test" }]]],
  ["git status", [["git", { operation: "status" }]]],
  ["show me the git log", [["git", { operation: "log" }]]],
  ["git diff src/a.ts", [["git", { operation: "diff", path: "src/a.ts" }]]],
  ["call save_note {\"text\": \"now then and here\"}", [["save_note", { text: "now then and here" }]]],
  ["list files then read a.md then run `pwd`", [["ls", { path: "." }], ["read", { path: "a.md" }], ["bash", { command: "pwd" }]]],
  ["Read a.md, then list the files.", [["read", { path: "a.md" }], ["ls", { path: "." }]]],
  ["list files and read a.md", [["ls", { path: "." }], ["read", { path: "a.md" }]]],
  ["write a.txt with milk then read a.txt", [["write", { path: "a.txt", content: "milk" }], ["read", { path: "a.txt" }]]],
  ["write a.txt with buy milk then call mom", [["write", { path: "a.txt", content: "buy milk then call mom" }]]]
]

describe("readPrompt", () => {
  for (const [text, expected] of cases) {
    it(`reads: ${text}`, () => assert.deepStrictEqual(calls(text), expected.map(([tool, args]) => [tool, args])))
  }

  for (const text of ["", "hello", "write a poem", "fix the bug", "git commit -m x", "call x {bad", "write a.txt with", "explain a.ts", "run"]) {
    it(`does not understand: “${text}”`, () => assert.isUndefined(steps(text)))
  }

  for (
    const [text, tag] of [
      ["read README.md and tell me its first heading", "FirstHeading"],
      ["read README.md then tell me its first heading", "FirstHeading"],
      ["what is the title of README.md?", "FirstHeading"],
      ["read a.txt and say how many lines it has", "LineCount"],
      ["count the lines in a.txt", "LineCount"],
      ["read a.txt and summarize it", "Summary"],
      ["summarise a.txt", "Summary"],
      ["read a.txt and write a poem about it", "Beyond"]
    ] as const
  ) {
    it(`knows what to do with the result of: ${text}`, () => assert.strictEqual(steps(text)?.[0]?.follow?._tag, tag))
  }

  const Name = Schema.String.check(Schema.isPattern(/^[a-z][a-z0-9_]{0,8}(\/[a-z0-9_]{1,8}){0,2}\.(md|ts|txt)$/))
  const Words = Schema.String.check(Schema.isPattern(/^[a-zA-Z0-9 .,;:()*+?[\]{}|^$\\/-]{1,30}$/))

  it.effect.prop("a file name comes through every request that has one", [Name], ([name]) =>
    Effect.sync(() => {
      assert.deepStrictEqual(calls(`read ${name}`), [["read", { path: name }]])
      assert.deepStrictEqual(calls(`read ${name} lines 2-9 and summarize it`), [["read", { path: name, start_line: 2, end_line: 9 }]])
      assert.deepStrictEqual(calls(`find "x" in ${name}`), [["grep", { pattern: "x", path: name }]])
      assert.deepStrictEqual(calls(`write ${name} with "x"`), [["write", { path: name, content: "x" }]])
      assert.deepStrictEqual(calls(`replace "x" with "y" in ${name}`), [["edit", { path: name, old_text: "x", new_text: "y" }]])
    }))

  it.effect.prop("a quoted text comes through unchanged, and what is searched for is taken literally", [Words], ([words]) =>
    Effect.sync(() => {
      assert.deepStrictEqual(calls(`run \`${words}\``), [["bash", { command: words }]])
      const expected = words.replaceAll("\\n", "\n")
      assert.deepStrictEqual(calls(`write a.txt with "${words}"`), [["write", { path: "a.txt", content: expected }]])
      const [[, args]] = calls(`find "${words}" in a.txt`) as [[string, { pattern: string }]]
      assert.isTrue(new RegExp(args.pattern).test(words))
    }))

  it.effect.prop("any requests joined by then are read one by one", [Schema.Array(Schema.Literals(["list files", "read a.md", "run `x`", "git log", "find \"y\""]))], ([requests]) =>
    Effect.sync(() => {
      if (requests.length > 0) assert.strictEqual(steps(requests.join(" then "))?.length, requests.length)
    }))

  it.effect.prop("no text makes it fail", [Schema.String], ([text]) => Effect.sync(() => void readPrompt(text)))

  it("stays quick on texts made to be slow", () => {
    const start = performance.now()
    for (const part of ["replace a with b in ", "read a and ", "find x in ", "then ", "and ", "\"", "{", "write a.txt with ", "list files and ", "x in ", " ", "\n"]) {
      readPrompt(part.repeat(4_000 / part.length))
      readPrompt(`${part.repeat(3_900 / part.length)} zzz`)
      readPrompt(`find ${part.repeat(3_900 / part.length)}`)
    }
    assert.isBelow(performance.now() - start, 3_000)
  })
})
