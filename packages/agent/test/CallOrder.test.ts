import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { ContentPart, ToolUsePart } from "@nimlet/protocol"
import { globTool, grepTool, readSkillTool, readTool, textResult, type Tool } from "@nimlet/tools"
import { Effect } from "effect"
import { groupCalls, uniqueIds } from "../src/CallOrder.ts"
import { toolSet } from "../src/ToolSet.ts"

const tool = (name: string, ...capabilities: Tool["capabilities"]): Tool => ({
  name,
  description: name,
  inputSchema: { type: "object" },
  capabilities,
  run: () => Effect.succeed(textResult(""))
})
const tools = toolSet([tool("read", "read"), tool("ask", "read", "user"), tool("write", "write"), tool("bare")].map((one) => ({ tool: one })))
const call = (name: string, id = name): ToolUsePart => ({ type: "tool_use", id, name, input: {} })
const names = (...calls: Array<string>) => groupCalls(calls.map((name) => call(name)), tools).map((group) => group.map((one) => one.name))

describe("groupCalls", () => {
  it("puts only neighbours that change nothing together", () => {
    assert.deepStrictEqual(names("read", "ask", "write", "read", "read"), [["read", "ask"], ["write"], ["read", "read"]])
  })

  // E-268
  it.each([
    [["read"], true], [["user"], true], [["read", "user"], true],
    [["write"], false], [["shell"], false], [["network"], false], [["read", "write"], false], [[], false]
  ] as const)("takes a tool that is said to %j for one that changes nothing: %s", (capabilities, changesNothing) => {
    const only = toolSet([{ tool: tool("x", ...capabilities), extension: "some" }])
    assert.strictEqual(groupCalls([call("x", "1"), call("x", "2")], only).length === 1, changesNothing)
  })

  // E-175
  it("puts the built-in tools that only read together, skills among them, with those of extensions", () => {
    const builtins = [readTool, grepTool, globTool, readSkillTool(Effect.succeed([]))].map((one) => ({ tool: tool(one.name, ...one.capabilities) }))
    const all = toolSet([...builtins, { tool: tool("theirs", "read"), extension: "some" }])
    assert.deepStrictEqual(groupCalls(["read", "grep", "theirs", "glob", "read_skill"].map((name) => call(name)), all).length, 1)
  })

  it("lets calls of tools without capabilities, and unknown ones, stand alone", () => {
    assert.deepStrictEqual(names("bare", "bare", "nobody", "read"), [["bare"], ["bare"], ["nobody"], ["read"]])
  })

  it.prop("keeps every call, in the order of the model", [Schema.Array(Schema.Literals(["read", "write", "nobody"]))], ([order]) => {
    assert.deepStrictEqual(names(...order).flat(), [...order])
  })
})

describe("uniqueIds", () => {
  it("renames what is empty or was used before, and leaves the rest alone", () => {
    const content: ReadonlyArray<ContentPart> = [{ type: "text", text: "x" }, call("read", ""), call("read", "a"), call("read", "a"), call("read", "b")]
    const ids = uniqueIds(content, new Set(["a"])).flatMap((part) => part.type === "tool_use" ? [part.id] : [])
    assert.deepStrictEqual(ids, ["call", "a_2", "a_3", "b"])
  })

  it.prop("never gives an id twice", [Schema.Array(Schema.Literals(["", "a", "a_2", "call"])), Schema.Array(Schema.Literals(["a", "call_2"]))], ([made, taken]) => {
    const ids = uniqueIds(made.map((id) => call("read", id)), new Set(taken)).flatMap((part) => part.type === "tool_use" ? [part.id] : [])
    assert.strictEqual(new Set([...ids, ...new Set(taken)]).size, made.length + new Set(taken).size)
  })
})
