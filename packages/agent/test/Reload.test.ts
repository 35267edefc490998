/** What is left of extensions that were started anew again and again. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { survivors } from "../../../test/kit/Workspace.ts"
import { withRealAgent } from "./RealAgent.ts"

/** Writes to its log, sets a status, has a tool, and hears of turns: a bit of everything that a start brings. */
const program = `#!/usr/bin/env node
import { createInterface } from "node:readline"
const send = (message) => console.log(JSON.stringify(message))
console.error("started")
send({ type: "register", commands: [{ name: "hi" }], tools: [{ name: "now", description: "Now.", input_schema: { type: "object" } }], events: ["session_start", "turn_start", "session_shutdown"] })
send({ type: "update", status: { key: "s", text: "on" } })
for await (const line of createInterface({ input: process.stdin })) {
  const { id, type } = JSON.parse(line)
  if (type === "event" || type === "command") send({ type: "response", id, message: "hi" })
}
`
const extension = (name: string, command: ReadonlyArray<string>, root = ".nimlet") => ({
  [`home/${root}/extensions/${name}/extension.json`]: JSON.stringify({ name, command }),
  [`home/${root}/extensions/${name}/x.mjs`]: program
})

describe("a reload", () => {
  it.live("ten times over leaves no process, no handle and no file behind", () => {
    const files = {
      ...extension("plain", ["./x.mjs"]),
      ...extension("other", ["./x.mjs"], ".niminal"),
      // A wrapper: the host knows only the shell. What runs in the background reads nothing unless it is told to.
      ...extension("wrapped", ["sh", "-c", `exec 3<&0; "$0" "$1" <&3 & wait`, process.execPath, "../home/.nimlet/extensions/wrapped/x.mjs"])
    }
    return withRealAgent({ files, scenario: [{ text: "still here", repeat: "always" }] }, ({ agent, root }) =>
      Effect.gen(function*() {
        const left = () => ({
          processes: survivors(root).length,
          // Handles of the process, whatever they are for.
          open: existsSync("/dev/fd") ? readdirSync("/dev/fd").length : 0,
          handles: process.getActiveResourcesInfo().filter((name) => name !== "Timeout" && name !== "Immediate").length,
          files: readdirSync(join(root, "logs")).length
        })
        const again = Effect.andThen(agent.reload, agent.prompt({ typed: "/hi" }))
        yield* again
        // The session's file and the connection to the model stay open from here on.
        assert.isTrue((yield* agent.prompt({ typed: "hello" })).success)
        const before = left()
        assert.strictEqual(before.files, 3)
        // The shell of the wrapper is a process of its own.
        assert.strictEqual(before.processes, 4)
        yield* Effect.repeat(again, { times: 9 })
        assert.isTrue((yield* agent.prompt({ typed: "and now?" })).success)
        // What has ended may take a moment to be gone.
        yield* Effect.repeat(Effect.andThen(Effect.sleep("50 millis"), Effect.sync(left)), { times: 40, until: (now) => now.processes <= before.processes && now.handles <= before.handles && now.open <= before.open })
        const after = left()
        assert.deepStrictEqual([after.processes, after.files], [before.processes, before.files])
        assert.isAtMost(after.open, before.open)
        assert.isAtMost(after.handles, before.handles)
      }))
  }, 60_000)
})
