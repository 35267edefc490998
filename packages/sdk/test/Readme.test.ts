import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8")

describe("the README", () => {
  it("shows the examples as they are", () => {
    const blocks = [...read("README.md").matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code)
    assert.deepStrictEqual(blocks, ["examples/deploys.ts", "test/Deploys.test.ts", "examples/drive.ts", "examples/drive-effect.ts"].map(read))
  })
})
