import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { rows } from "../src/worker/Events.ts"

const guide = readFileSync(new URL("../../../apps/cli/docs/typescript-extensions.md", import.meta.url), "utf8")
const source = (name: string) => readFileSync(new URL(`../src/worker/${name}`, import.meta.url), "utf8")
/** Members of the objects that a file makes, by the indentation they have there. */
const membersOf = (name: string, indent: number) =>
  [...source(name).matchAll(new RegExp(`^ {${indent}}(?:get )?(\\w+)(?:\\(\\) \\{|: )`, "gm"))].flatMap(([, member]) => member === undefined ? [] : [member])

describe("the guide to TypeScript extensions", () => {
  //
  it("names every event, and every member of pi and ctx", () => {
    const absent = ["orchestrationContext", "subagentPolicy", "internalResourceRouter", "default", "case"]
    const names = [...Object.keys(rows), ...membersOf("Pi.ts", 4), ...membersOf("Context.ts", 4)]
    assert.isAbove(names.length, 80)
    assert.deepStrictEqual(names.filter((name) => !absent.includes(name) && !new RegExp(`\\b${name}\\b`).test(guide)), [])
  })
})
