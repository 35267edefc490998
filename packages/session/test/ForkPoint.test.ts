import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { forkPoint, saidIn } from "../src/ForkPoint.ts"
import { summarise } from "../src/SessionSummary.ts"

const own = (text: string) => ({ type: "text", text }) as const
const along = (text: string) => ({ type: "text", text, provider_data: { nimlet: { typed: false } } }) as const

describe("what the user said", () => {
  it.each([
    ["without the files that go along", [own("read @a"), along("<file>secret</file>")], "read @a"],
    ["with what was piped before it", [along("a log"), own("why?"), along("<file>secret</file>")], "a log\n\nwhy?"],
    ["whole, where no person typed it", [along("Fix it."), along("more")], "Fix it.\n\nmore"],
    ["as the parts say, where another program wrote them", [own("a"), own("b")], "a\n\nb"]
  ])("is told %s, taken up anew and listed", (_, content, said) => {
    const entry = { type: "user", role: "user", content } as const
    assert.strictEqual(saidIn(entry), said)
    assert.deepStrictEqual(forkPoint([entry], 1), Option.some({ count: 0, text: said }))
    const head = `{"type":"session","workspace":"/w"}\n${JSON.stringify(entry)}\n`
    assert.strictEqual(summarise("1", { head, tail: head }, { bytes: 1, modified: 1 }).firstText, said)
  })
})
