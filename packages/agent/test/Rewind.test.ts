import { assert, describe, it } from "@effect/vitest"
import type { ChangedFile, SessionEntry } from "@nimlet/protocol"
import { movesSince } from "../src/Rewind.ts"

const user: SessionEntry = { type: "user", role: "user", content: [{ type: "text", text: "go" }] }
const changed = (...files: ReadonlyArray<ChangedFile>): SessionEntry => ({ type: "tool_result", id: "x", output: "", is_error: false, files })
const file = (path: string, before: string | null, after: string): ChangedFile => ({ path, before, after, ...(before === null ? {} : { snapshot: `s/${path}-${before}` }) })

describe("what files held before a message", () => {
  it("is what the first change since found, and what the last one left has to be there now", () => {
    const entries = [user, changed(file("a", "1", "2")), user, changed(file("a", "2", "3"), file("new", null, "8")), changed(file("new", "8", "9")), changed(file("a", "3", "4"))]
    assert.deepStrictEqual(movesSince(entries, 2), {
      moves: [{ path: "a", now: "4", then: "2", snapshot: "s/a-2" }, { path: "new", now: "9", then: null }],
      refusals: []
    })
    assert.deepStrictEqual(movesSince(entries, 0).moves[0], { path: "a", now: "4", then: "1", snapshot: "s/a-1" })
    assert.deepStrictEqual(movesSince(entries, 6), { moves: [], refusals: [] })
  })

  it("is nothing to go back to where it is the same, was not kept, or somebody else came between", () => {
    const { moves, refusals } = movesSince([
      changed(file("same", "1", "2"), file("same", "2", "1"), { path: "large", before: "1", after: "2" }, { path: "unread", after: "2" }, file("shared", "1", "2"), file("shared", "7", "8"))
    ], 0)
    assert.deepStrictEqual([moves, refusals.map(({ path }) => path)], [[], ["large", "unread", "shared"]])
  })
})
