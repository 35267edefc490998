import { expect, it } from "vitest"
import { startModelStub } from "../kit/ModelStub.ts"
import { anthropic } from "../kit/Providers.ts"
import { makeWorkspace, records } from "../kit/Workspace.ts"

type Json = Record<string, any>

/** The blocks of a request in the order in which Anthropic caches them, each without its mark, and where marks are. */
const blocksOf = ({ messages, system, tools }: Json) => {
  const all: ReadonlyArray<Json> = [
    ...tools,
    ...system,
    ...messages.flatMap(({ content, role }: Json) => (typeof content === "string" ? [{ type: "text", text: content }] : content).map((block: Json) => ({ ...block, role })))
  ]
  return {
    blocks: all.map(({ cache_control: _, ...block }) => JSON.stringify(block)),
    marks: all.flatMap(({ cache_control }, index) => cache_control === undefined ? [] : [index]),
    sections: [tools.length - 1, tools.length + system.length - 1]
  }
}

it("each request marks what the next one begins with, and finds the mark of the one before, with at most four marks", async () => {
  const reads = Array.from({ length: 15 }, () => ({ name: "read", args: { path: "a.txt" } }))
  await using stub = await startModelStub([
    { text: "I look.", tools: [{ name: "read", args: { path: "a.txt" } }], usage: { cacheWrite: 900 } },
    { thinking: "hm", tools: reads, usage: { cacheRead: 900 } },
    { tools: [{ name: "ls", args: {} }] },
    { text: "done" },
    { text: "done again" }
  ])
  await using space = await makeWorkspace()
  await space.file("a.txt", "alpha\n")
  const env = anthropic.env(stub.url)
  const run = await space.nimlet(["--mode", "json", ...anthropic.args, "go"], { env })
  await space.nimlet(["-p", ...anthropic.args, "--resume", "go on"], { env })
  expect(stub.requests.map(({ problem }) => problem)).toEqual(stub.requests.map(() => undefined))
  const requests = stub.requests.map(({ body }) => blocksOf(body as Json))
  for (const [n, { blocks, marks, sections }] of requests.entries()) {
    expect(marks).toEqual(expect.arrayContaining([...sections, blocks.length - 1]))
    expect(marks.length).toBeLessThanOrEqual(4)
    const before = requests[n - 1]
    if (before === undefined) continue
    const shared = before.blocks.length
    // What is sent again is the same to the letter, and marked at its end.
    expect(blocks.slice(0, shared)).toEqual(before.blocks)
    expect(marks).toContain(shared - 1)
  }
  const usages = records(run.stdout).flatMap(({ type, usage }) => type === "step_end" ? [usage] : [])
  expect(usages.slice(0, 2)).toMatchObject([{ cache_write_tokens: 900 }, { cache_read_tokens: 900 }])
})
