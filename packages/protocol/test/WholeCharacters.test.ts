import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { beginningOf, decodeRpcCommand, encodeRecord } from "../src/index.ts"

const half = "\ud83d"

describe("texts of whole characters", () => {
  it("are what a cut leaves, also where it falls within one", () => {
    assert.deepStrictEqual([2, 3, 4, 9].map((most) => beginningOf("ab😀c", most)), ["ab", "ab", "ab😀", "ab😀c"])
  })

  it("are what records hold, in any member", () => {
    const place = { session_id: "s", turn_id: "t", run_id: "t" }
    const lines = [
      encodeRecord({ type: "message", role: "user", content: `a${half}😀\\ud83d`, ...place }),
      encodeRecord({ type: "diagnostic", level: "error", message: `a${half}` })
    ]
    assert.deepStrictEqual(lines.map((line) => JSON.parse(line ?? "")), [
      { version: 1, type: "message", role: "user", content: "a\ufffd😀\\ud83d", ...place },
      { version: 1, type: "diagnostic", level: "error", message: "a\ufffd" }
    ])
  })

  it("are what a command says", () => {
    const command = Result.getOrThrow(decodeRpcCommand(JSON.stringify({ id: half, type: "prompt", message: `a${half}` })))
    assert.deepInclude(command, { id: "\ufffd", message: "a\ufffd" })
  })
})
