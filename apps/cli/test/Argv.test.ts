import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { type Invocation, parseArgv } from "../src/Argv.ts"

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

  it("names an unknown option before the prompt", () => {
    assert.include(problem("--frobnicate", "hi"), "--frobnicate")
    assert.include(problem("-x"), "-x")
  })

  it("refuses a missing or empty value", () => {
    assert.include(problem("--provider"), "--provider")
    assert.include(problem("--model="), "--model")
    assert.include(problem("--tools", "read,,grep"), "--tools")
  })

  it("drops repeated tool names in any case, and knows none", () => {
    assert.deepStrictEqual(run("--tools", "read, Grep,READ", "x").tools, ["READ", "Grep"])
    assert.deepStrictEqual(run("--tools", "None", "x").tools, [])
    assert.isUndefined(run("x").tools)
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
})
