import { expect, it } from "vitest"
import { startModelStub } from "../kit/ModelStub.ts"
import { anthropic, chat, chatConfig, responses } from "../kit/Providers.ts"
import { makeWorkspace, records } from "../kit/Workspace.ts"

const module = (tools: string) => `
import { Type } from "typebox"
export default function (pi) {
  const tool = (name, more, parameters = Type.Object({ text: Type.String() }, { additionalProperties: false })) =>
    pi.registerTool({ name, label: name, description: name, parameters, execute: async (_, args) => ({ content: [{ type: "text", text: JSON.stringify(args) }] }), ...more })
  ${tools}
}`

/** A workspace in whose home an extension registers tools. */
const withTools = async (url: string, tools: string) => {
  const space = await makeWorkspace()
  await space.file("~/.atomic/agent/extensions/tools.ts", module(tools))
  await space.file("~/.nimlet/config.json", chatConfig(url))
  return space
}
const strictIn = (body: any): ReadonlyArray<string> => body.tools.filter(({ strict }: { strict?: boolean }) => strict === true).map(({ name }: { name: string }) => name)

const wishes = `
  tool("preferring", { constrainedSampling: { type: "json_schema", strict: "prefer" } })
  tool("declining", { constrainedSampling: false })
  tool("indifferent", {})`

// A-155 A-160 A-167 A-169 A-170
it("tools that prefer it are strict where the model does that, and ordinary elsewhere, built-in ones too", async () => {
  await using stub = await startModelStub([{ text: "ok", repeat: "always" }])
  await using space = await withTools(stub.url, wishes)
  for (const provider of [anthropic, responses, chat]) {
    const run = await space.nimlet(["-p", ...provider.args, "go"], { env: provider.env(stub.url) })
    expect([run.code, run.stderr]).toEqual([0, ""])
  }
  const [claude, gpt, house] = stub.requests.map(({ body }) => body as any)
  // What of ours is bounded or partly optional is more than these providers hold a model to.
  expect(strictIn(claude)).toEqual(expect.arrayContaining(["edit", "write", "preferring"]))
  expect(strictIn(gpt)).toEqual(["preferring"])
  expect(house.tools.some((tool: any) => tool.function.strict === true)).toBe(false)
  for (const name of ["declining", "indifferent"]) expect(strictIn(claude)).not.toContain(name)
  const schemaOf = (name: string, tools: ReadonlyArray<any>) => tools.map((tool) => tool.function ?? tool).filter((tool) => tool.name === name).map((tool) => tool.input_schema ?? tool.parameters)[0]
  for (const name of ["read", "edit", "write", "bash", "preferring"]) expect(schemaOf(name, claude.tools)).toEqual(schemaOf(name, house.tools))
})

//
it("a tool that requires it fails the turn where the model does not do that", async () => {
  await using stub = await startModelStub([{ text: "ok", repeat: "always" }])
  await using space = await withTools(stub.url, `tool("insisting", { constrainedSampling: { type: "json_schema", strict: "require" } })`)
  const refused = await space.nimlet(["-p", ...chat.args, "go"], { env: chat.env(stub.url) })
  expect([refused.code, stub.requests.length]).toEqual([1, 0])
  expect(refused.stderr).toMatch(/insisting.*this model does not offer that/)
  const run = await space.nimlet(["-p", ...anthropic.args, "go"], { env: anthropic.env(stub.url) })
  expect([run.code, strictIn(stub.requests[0]!.body)]).toEqual([0, expect.arrayContaining(["insisting"])])
})

// A-162 A-164 A-175 A-176 A-178
it("a tool with a grammar is called with the text that followed it, and an ordinary tool for models that take none", async () => {
  await using stub = await startModelStub([{ tools: [{ name: "letters", args: "aaa" }] }, { text: "ok" }, { text: "ok" }])
  await using space = await withTools(stub.url, `tool("letters", { constrainedSampling: { type: "grammar", variants: { openai_lark: "start: /a+/", openai_regex: "a+" } } })`)
  const run = await space.nimlet(["--mode", "json", ...responses.args, "go"], { env: responses.env(stub.url) })
  expect([run.code, stub.requests.map(({ problem }) => problem)]).toEqual([0, [undefined, undefined]])
  expect((stub.requests[0]!.body as any).tools.find(({ name }: { name: string }) => name === "letters")).toMatchObject({ type: "custom", format: { syntax: "lark", definition: "start: /a+/" } })
  expect(records(run.stdout).find(({ type }) => type === "tool_result")).toMatchObject({ tool_name: "letters", output: `{"text":"aaa"}`, is_error: false })
  await space.nimlet(["-p", ...responses.args, "--model", "gpt-4.1", "go"], { env: responses.env(stub.url) })
  expect((stub.requests[2]!.body as any).tools.find(({ name }: { name: string }) => name === "letters")).toMatchObject({ type: "function", parameters: { required: ["text"] } })
})
