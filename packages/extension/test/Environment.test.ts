import { assert, describe, it } from "@effect/vitest"
import { environmentOf } from "../src/Environment.ts"

describe("environmentOf", () => {
  const inherited = { PATH: "/bin", KEY: "secret", NIMINAL_TRUSTED: "1" }

  it("leaves withheld names out unless they are allowed", () => {
    const session = { sessionId: "s", trusted: false }
    assert.isUndefined(environmentOf(inherited, ["KEY"], [], session).KEY)
    assert.strictEqual(environmentOf(inherited, ["KEY"], ["KEY"], session).KEY, "secret")
  })

  it("tells the session under both prefixes, over inherited values, and nothing that is unknown", () => {
    assert.deepStrictEqual(environmentOf(inherited, ["KEY"], [], { sessionId: "s", trusted: false, model: "m" }), {
      PATH: "/bin",
      NIMLET_SESSION_ID: "s",
      NIMLET_MODEL: "m",
      NIMLET_TRUSTED: "0",
      NIMINAL_SESSION_ID: "s",
      NIMINAL_MODEL: "m",
      NIMINAL_TRUSTED: "0"
    })
  })
})
