/** The protocol section of the README, which is what authors of extensions read, held to the tables it describes. */
import { assert, describe, it } from "@effect/vitest"
import { HookEvents, HostMessage, HostRequestFields, Manifest, Registration, SideEffects, ToolReplyFields, CommandReplyFields } from "@nimlet/protocol"
import { readFileSync } from "node:fs"

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")
const protocol = readme.slice(readme.indexOf("## The protocol"))
const rows = protocol.split("\n").filter((line) => line.startsWith("| `"))
/** The row whose first cell names `name`. */
const rowOf = (name: string) => rows.find((row) => row.split(" | ")[0]!.includes(`\`${name}\``)) ?? "no row"
const names = (text: string, fields: ReadonlyArray<string>) => fields.filter((field) => !text.includes(field))

describe("the protocol section", () => {
  it.each(Object.entries(HookEvents).map(([event, { reply }]) => [event, Object.keys(reply)] as const))("has the event %s and what a reply may say", (event, fields) => {
    assert.deepStrictEqual(names(rowOf(event), [event, ...fields]), [])
  })

  it.each(HostMessage.members.map(({ fields }) => [fields.type.literal, Object.keys(fields)] as const))("has the line %s and its fields", (type, fields) => {
    assert.deepStrictEqual(names(rowOf(type), fields.filter((field) => field !== "type")), [])
  })

  it.each(Object.entries(HostRequestFields).map(([method, fields]) => [method, Object.keys(fields)] as const))("has the host request %s", (method, fields) => {
    assert.deepStrictEqual(names(rowOf(method), fields.map((field) => `\`${field}\``)), [])
  })

  it("has every side effect, what answers to tools and commands may say, what register may hold, and the manifest's keys", () => {
    assert.deepStrictEqual(Object.keys(SideEffects).map(rowOf).filter((row) => row.startsWith("no row")), [])
    assert.deepStrictEqual(names(rowOf("tool"), Object.keys(ToolReplyFields)), [])
    assert.deepStrictEqual(names(rowOf("command"), Object.keys(CommandReplyFields)), [])
    assert.deepStrictEqual(names(rowOf("register"), Object.keys(Registration.fields)), [])
    assert.deepStrictEqual(names(protocol.slice(protocol.indexOf("### The manifest")), Object.keys(Manifest.fields).map((field) => `\`${field}`)), [])
  })
})
