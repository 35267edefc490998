import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { parseArgv } from "../src/Argv.ts"
import type { Invocation } from "../src/Flags.ts"

const run = (...argv: Array<string>): Invocation => {
  const command = Result.getOrThrow(parseArgv(argv))
  assert.strictEqual(command.kind, "run")
  return command.kind === "run" ? command.invocation : assert.fail()
}
const problem = (...argv: Array<string>): string => Result.match(parseArgv(argv), { onFailure: (error) => error.problem, onSuccess: () => "" })

describe("parseArgv", () => {
  it("takes everything from the first plain word as the prompt, dashes included", () => {
    assert.strictEqual(run("fix", "--the", "bug").prompt, "fix --the bug")
    assert.strictEqual(run("--no-session", "--", "--the", "bug").prompt, "--the bug")
    assert.strictEqual(run("-").prompt, "-")
  })

  it("reads a value from the next word or behind =", () => {
    assert.strictEqual(run("--provider", "anthropic", "hi").provider, "anthropic")
    assert.strictEqual(run("--model=m=1", "hi").model, "m=1")
  })

  it("says that the terminal stays after the prompt, and how it is drawn", () => {
    const { prompt, screenReader, stay } = run("-i", "--regular", "--screen-reader", "fix", "it")
    assert.deepStrictEqual([prompt, stay, screenReader, run("x").stay], ["fix it", true, true, false])
  })

  it("refuses a full screen in words, and keeps nothing of it for extensions", () => {
    assert.match(problem("--fullscreen"), /^--fullscreen: .*--regular/)
    assert.strictEqual(run("--no-fullscreen", "hi").prompt, "hi")
  })

  it("names an unknown option of one letter before the prompt", () => {
    assert.include(problem("-x"), "-x")
  })

  //
  it("keeps a long one for whoever registers it; only then it is known what is its value and what the prompt", () => {
    const line = ["--deep", "one", "--model", "m", "--wide", "fix", "it"]
    const first = run(...line)
    assert.deepStrictEqual([first.foreign, first.model, first.prompt], [[{ name: "deep", value: "one" }, { name: "wide", value: "fix" }], "m", "fix it"])
    const types = new Map<string, "boolean" | "string">([["deep", "string"], ["wide", "boolean"], ["last", "string"]])
    const settled = (...words: ReadonlyArray<string>) => Result.map(parseArgv(words, types), (command) => command.kind === "run" ? [command.invocation.foreign, command.invocation.prompt] : [])
    assert.deepStrictEqual(settled(...line), Result.succeed([[{ name: "deep", value: "one" }, { name: "wide" }], "fix it"]))
    assert.deepStrictEqual(settled("--last", "value", "the", "prompt"), Result.succeed([[{ name: "last", value: "value" }], "the prompt"]))
    assert.deepStrictEqual(settled("--last=a=b", "--wide", "--", "-x"), Result.succeed([[{ name: "last", value: "a=b" }, { name: "wide" }], "-x"]))
  })

  it("refuses a missing or empty value", () => {
    assert.include(problem("--provider"), "--provider")
    assert.include(problem("--model="), "--model")
    assert.include(problem("--tools", "read,,grep"), "--tools")
    assert.include(problem("--tools", ""), "or none")
  })

  it("drops repeated tool names in any case, and knows none", () => {
    assert.deepStrictEqual(run("--tools", "read, Grep,READ", "x").tools, ["READ", "Grep"])
    assert.deepStrictEqual(run("--tools", "None", "x").tools, [])
    assert.isUndefined(run("x").tools)
  })

  it("goes on with the latest session by --resume, --continue and -c alike", () => {
    for (const flag of ["--resume", "--continue", "-c"]) assert.deepStrictEqual(run(flag, "x").session, { kind: "latest" })
  })

  it("says what takes an id where --resume is given one, which would else go to the model as the beginning of a prompt", () => {
    for (const flag of ["--resume", "-c", "--continue"]) assert.include(problem(flag, "17961001225010003847", "-p", "go on"), "--session 17961001225010003847")
    assert.strictEqual(run("--resume", "2026 was a good year").prompt, "2026 was a good year")
    assert.strictEqual(run("--resume", "--", "17961001225010003847").prompt, "17961001225010003847")
    assert.strictEqual(run("17961001225010003847").prompt, "17961001225010003847")
  })

  it("lets --session win over --resume, and neither go with --no-session", () => {
    assert.deepStrictEqual(run("--session", "1", "--resume", "x").session, { kind: "id", id: "1" })
    assert.include(problem("--no-session", "--resume"), "--no-session")
  })

  it("stops at --help and --version, whatever follows", () => {
    assert.deepStrictEqual(parseArgv(["--help", "--nonsense"]), Result.succeed({ kind: "help" }))
    assert.deepStrictEqual(parseArgv(["--version", "--nonsense"]), Result.succeed({ kind: "version" }))
  })

  it("does not take --mode's value for granted", () => {
    assert.strictEqual(run("--mode", "JSON", "x").mode, "json")
    assert.strictEqual(run("--mode", "json", "-p", "x").mode, "json")
    assert.include(problem("--mode", "xml"), "xml")
  })

  it("collects extensions that are started and those that are required, once each", () => {
    const { extensions, required } = run("-e", "a", "--extension=b", "--require-extension", "guard", "--require-extension", "guard", "x")
    assert.deepStrictEqual([extensions, required], [["a", "b"], ["guard"]])
  })

  it("takes words for a subcommand only if nothing but its own flags stands around them", () => {
    const kinds = (...argv: Array<string>) => Result.match(parseArgv(argv), { onFailure: () => "wrong", onSuccess: ({ kind }) => kind })
    for (const argv of [["extension", "list"], ["-e", "x", "extension", "list", "--json", "--approve"], ["doctor"], ["--model", "m", "doctor", "--start"]]) {
      assert.strictEqual(kinds(...argv), "subcommand", argv.join(" "))
    }
    for (const argv of [
      ["extension", "list", "what", "is", "this"], ["extension", "list", "--json", "please"], ["extension"], ["extension", "lists"], ["doctor", "who"],
      ["--", "doctor"], ["doctor", "--"], ["-p", "doctor"], ["doctor", "--tools", "none"], ["extension", "list", "--start"], ["extension", "list", "-e"], ["Doctor"]
    ]) assert.strictEqual(kinds(...argv), "run", argv.join(" "))
    assert.strictEqual(run("extension", "list", "what", "is", "this").prompt, "extension list what is this")
  })

  it("takes the one word that replay needs for its file, and more or none for a prompt", () => {
    const command = Result.getOrThrow(parseArgv(["replay", "a.jsonl"]))
    assert.deepStrictEqual(command.kind === "subcommand" && [command.name, command.invocation.operands], ["replay", ["a.jsonl"]])
    assert.strictEqual(run("replay").prompt, "replay")
    assert.strictEqual(run("replay", "the", "video").prompt, "replay the video")
    assert.strictEqual(run("--", "replay", "a.jsonl").prompt, "replay a.jsonl")
  })

  it("gives a subcommand the flags before and behind it", () => {
    const command = Result.getOrThrow(parseArgv(["-e", "x", "--approve", "extension", "list", "-e", "y", "--json", "--require-extension", "z"]))
    assert.deepInclude(command.kind === "subcommand" ? command.invocation : assert.fail(), { extensions: ["x", "y"], approve: true, json: true, required: ["z"] })
  })

  it("gives a subcommand the words it takes, and no more", () => {
    const operands = (...argv: Array<string>) => {
      const command = Result.getOrThrow(parseArgv(argv))
      return command.kind === "subcommand" ? [command.name, ...command.invocation.operands] : command.kind
    }
    assert.deepStrictEqual(operands("sessions", "list"), ["sessions list"])
    assert.deepStrictEqual(operands("sessions", "list", "two", "--json", "words"), ["sessions list", "two", "words"])
    assert.deepStrictEqual(operands("sessions", "show", "17"), ["sessions show", "17"])
    assert.deepStrictEqual(operands("sessions", "name", "17", "My", "work"), ["sessions name", "17", "My", "work"])
    assert.deepStrictEqual(operands("sessions", "export", "17", "-"), ["sessions export", "17", "-"])
    assert.deepStrictEqual(operands("sessions", "fork", "--message=2", "17"), ["sessions fork", "17"])
    for (const argv of [
      ["sessions"], ["sessions", "show"], ["sessions", "show", "17", "18"], ["sessions", "show", "the last?"], ["sessions", "name", "17"], ["sessions", "fork", "17", "--", "x"],
      ["sessions", "export", "17", "a", "b"], ["sessions", "show", "17", "--message", "2"], ["sessions", "are", "what?"]
    ]) assert.strictEqual(operands(...argv), "run", argv.join(" "))
  })

  it("knows the help of a subcommand from that of all, and shells it can teach", () => {
    assert.deepStrictEqual(parseArgv(["extension", "list", "--json", "-h"]), Result.succeed({ kind: "help", subcommand: "extension list" }))
    assert.deepStrictEqual(parseArgv(["sessions", "--help"]), Result.succeed({ kind: "help", subcommand: "sessions" }))
    assert.strictEqual(run("sessions", "--help", "me").prompt, "sessions --help me")
    assert.deepStrictEqual(parseArgv(["--completions", "fish"]), Result.succeed({ kind: "completions", shell: "fish" }))
    assert.include(problem("--completions", "cmd"), "fish")
    assert.include(problem("--completions"), "--completions")
  })
})
