import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { HeaderList } from "../src/HeaderList.ts"

const list = [["b", "2"], ["A", " 1\t"], ["a", "3"], ["set-cookie", "x"], ["Set-Cookie", "y"]] as Array<[string, string]>

describe("a list of headers", () => {
  it("keeps, joins and orders headers as the platform's does", () => {
    for (const init of [list, { b: "2", A: "1" }, undefined, new Headers(list)]) {
      const [ours, theirs] = [new HeaderList(init), new Headers(init)]
      assert.deepStrictEqual([...ours], [...theirs])
      assert.deepStrictEqual([...ours.keys()], [...theirs.keys()])
      assert.deepStrictEqual([...ours.values()], [...theirs.values()])
    }
    assert.deepStrictEqual(new HeaderList(list).getSetCookie(), ["x", "y"])
    assert.deepStrictEqual([...new HeaderList(new HeaderList(list))], [...new Headers(list)])
  })

  it("changes them as the platform's does", () => {
    const [ours, theirs] = ([new HeaderList(list), new Headers(list)] as Array<Headers>).map((headers) => {
      headers.set("B", "new")
      headers.append("c", "1")
      headers.append("C", "2")
      headers.delete("A")
      const seen: Array<string> = []
      headers.forEach((value, name) => seen.push(`${name}=${value}`))
      return [seen, headers.get("C"), headers.has("a"), headers.get("none")]
    })
    assert.deepStrictEqual(ours, theirs)
  })

  it("refuses what is no header", () => {
    for (const [name, value] of [["a b", "1"], ["", "1"], ["a", "1\r\nb: 2"], ["a", "\u20ac"]] as Array<[string, string]>) {
      assert.throws(() => new HeaderList([[name, value]]), TypeError)
      assert.throws(() => new Headers([[name, value]]), TypeError)
    }
  })

  it.effect.prop("takes and refuses the values the platform takes and refuses", [Schema.String], ([value]) =>
    Effect.sync(() => {
      const attempt = (make: () => Headers) => {
        try {
          return make().get("x")
        } catch (error) {
          return error instanceof TypeError
        }
      }
      assert.strictEqual(attempt(() => new HeaderList({ x: value })), attempt(() => new Headers({ x: value })))
    }))
})
