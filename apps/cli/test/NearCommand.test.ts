import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { parseArgv } from "../src/Argv.ts"

/** The command that a prompt was most likely meant for, and the files that have to be there for it. */
const near = (line: string) => {
  const command = Result.getOrThrow(parseArgv(line.split(" ")))
  if (command.kind !== "run") return assert.fail(command.kind)
  return command.near === undefined ? "" : [command.near.help, ...command.near.files].join(" ")
}

describe("a prompt that was most likely meant for a subcommand", () => {
  it("has its words alone, or with the wrong number of ids, files and flags", () => {
    for (const [line, help] of Object.entries({
      "sessions": "sessions",
      "models": "models",
      "replay": "replay",
      "replay a.jsonl b.jsonl": "replay",
      "replay runs/1 runs/2": "replay",
      "replay a.jsonl --json": "replay",
      "doctor --strat": "doctor",
      "sessions --json": "sessions",
      "sessions delete": "sessions delete",
      "sessions show the last?": "sessions show",
      "sessions fork 17960703310180001500 --to here": "sessions fork",
      "sessions rm 17960703310180001500": "sessions",
      "models list --everywhere": "models list"
    })) assert.strictEqual(near(line), help, line)
  })

  it("has a second word with a slip in it, or cut short", () => {
    for (const line of ["models lst", "models lits", "models listt", "models ref", "sessions exprt 17960703310180001500 a.html", "sessions del 17960703310180001500"]) {
      assert.strictEqual(near(line), line.split(" ")[0], line)
    }
  })

  it("has right words behind flags that they do not take", () => {
    assert.strictEqual(near("-p doctor"), "doctor")
    assert.strictEqual(near("--provider offline sessions list"), "sessions list")
  })

  it("has words for replay that are files, which only the disk knows", () => {
    assert.strictEqual(near("replay one two"), "replay one two")
    assert.strictEqual(near("replay one two.jsonl"), "replay one")
  })

  it("is not prose that begins with one, nor what stands behind --", () => {
    for (const line of [
      "doctor who is on tonight", "sessions are what?", "sessions for tomorrow", "models like gpt", "models of the world", "extension ideas please", "extensions list",
      "model list", "fix the sessions list", "-- doctor", "-- sessions"
    ]) assert.strictEqual(near(line), "", line)
  })
})
