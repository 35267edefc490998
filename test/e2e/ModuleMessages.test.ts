/** What a TypeScript extension says in its session: each way of saying it, and what the model is sent then. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { checkRecords } from "@nimlet/protocol"
import { type ModelStub, startModelStub } from "../kit/ModelStub.ts"
import { anthropic } from "../kit/Providers.ts"
import { startRpc } from "../kit/RpcDriver.ts"
import { makeWorkspace, records, type Workspace } from "../kit/Workspace.ts"

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

/** Says what `body` says, in a tool and in a command. */
const speaking = (space: Workspace, body: string) =>
  space.file("~/.pi/agent/extensions/a.ts", `import type { ExtensionAPI } from "@bastani/atomic"
export default (pi: ExtensionAPI) => {
  const picture = [{ type: "text", text: "look" }, { type: "image", data: "${png}", mimeType: "image/png" }]
  const speak = async (ctx, args = "") => { ${body} }
  pi.registerTool({ name: "speak", label: "Speak", description: "Speaks.", parameters: { type: "object", properties: {} },
    execute: async (_id, _params, _signal, _update, ctx) => { await speak(ctx); return { content: [{ type: "text", text: "spoke" }], details: {} } } })
  pi.registerCommand("speak", { handler: async (args, ctx) => { await speak(ctx, args) } })
}
`)
const callsSpeak = { tools: [{ name: "speak", args: {} }] }

/** What a request ends with, behind the last thing that the model said. */
const lastIn = (stub: ModelStub, at: number): ReadonlyArray<string> => {
  const { messages } = stub.requests[at]!.body as { messages: ReadonlyArray<{ role: string; content: any }> }
  return messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1).flatMap(({ content }) =>
    typeof content === "string"
      ? [content]
      : content.map((part: any) => part.type === "image" ? `${part.source.media_type} ${part.source.data === png}` : part.type === "tool_result" ? "result" : part.text))
}
const saved = (space: Workspace, id: unknown): ReadonlyArray<any> =>
  readFileSync(join(space.home, ".nimlet/sessions", `${id}.jsonl`), "utf8").trim().split("\n").map((line) => JSON.parse(line))
const ofSession = (stdout: string) => records(stdout).find(({ session_id }) => session_id !== undefined)!["session_id"]

describe("pi.sendMessage", () => {
  it("goes before the next step, after the run, or into the next turn, as deliverAs says; several at once stay together", async () => {
    await using stub = await startModelStub([callsSpeak, { text: "one" }, { text: "two" }, { text: "three" }])
    await using space = await makeWorkspace()
    await speaking(space, `
      pi.sendMessage({ customType: "later", content: "next turn", display: false }, { deliverAs: "nextTurn" })
      pi.sendMessage({ customType: "end", content: "follow up", display: true }, { deliverAs: "followUp" })
      await pi.sendMessages([{ customType: "now", content: "steer 1", display: true }, { customType: "now", content: "steer 2", display: true, details: { n: 2 } }])`)
    const rpc = startRpc(space, anthropic.args, { env: anthropic.env(stub.url) })
    await rpc.turn(rpc.send("prompt", { message: "go" }))
    expect([1, 2].map((at) => lastIn(stub, at))).toEqual([["result", "steer 1", "steer 2"], ["follow up"]])
    await rpc.turn(rpc.send("prompt", { message: "and then?" }))
    expect(lastIn(stub, 3)).toEqual(["and then?", "next turn"])
    const { stdout } = await rpc.end()
    expect(checkRecords(records(stdout), { mode: "rpc" })).toEqual([])
    expect(saved(space, ofSession(stdout)).filter(({ type }) => type === "custom_message")).toMatchObject([
      { custom_type: "now", extension: "a" }, { custom_type: "now", details: { n: 2 } }, { custom_type: "end" }, { custom_type: "later", display: false }
    ])
  })

  it("keeps what is said when nothing runs, and has the model answer it only with triggerTurn", async () => {
    await using stub = await startModelStub([{ text: "answered" }])
    await using space = await makeWorkspace()
    await speaking(space, `await pi.sendMessage({ customType: "note", content: "said " + args, display: true }, { triggerTurn: args === "aloud" })`)
    const rpc = startRpc(space, anthropic.args, { env: anthropic.env(stub.url) })
    await rpc.turn(rpc.send("prompt", { message: "/speak softly" }))
    expect(stub.requests).toHaveLength(0)
    rpc.send("prompt", { message: "/speak aloud" })
    await rpc.until(({ role, type }) => type === "message" && role === "assistant")
    expect(lastIn(stub, 0)).toEqual(["said softly", "said aloud"])
    const { stdout } = await rpc.end()
    expect(checkRecords(records(stdout), { mode: "rpc" })).toEqual([])
  })

  it("with deliverAs interrupt ends what runs first", async () => {
    await using stub = await startModelStub([{ tools: [{ name: "bash", args: { command: "touch begun; sleep 30" } }] }, { text: "answered" }])
    await using space = await makeWorkspace()
    await space.file("~/.pi/agent/extensions/a.ts", `import { existsSync } from "node:fs"
export default (pi) => {
  pi.on("tool_execution_start", () => {
    const look = setInterval(() => {
      if (!existsSync("begun")) return
      clearInterval(look)
      pi.sendMessage({ customType: "stop", content: "stop that", display: true }, { deliverAs: "interrupt", triggerTurn: true })
    }, 10)
  })
}`)
    const rpc = startRpc(space, anthropic.args, { env: anthropic.env(stub.url) })
    await rpc.turn(rpc.send("prompt", { message: "go" }))
    await rpc.until(({ content, role, type }) => type === "message" && role === "assistant" && content === "answered")
    expect(lastIn(stub, 1)).toEqual(["result", "stop that"])
    const { stdout } = await rpc.end()
    expect(checkRecords(records(stdout), { mode: "rpc" })).toEqual([])
  })
})

describe("pi.sendUserMessage", () => {
  it("brings pictures to the model: while it works, after the run, from a command, and in a turn of its own", async () => {
    await using stub = await startModelStub([callsSpeak, { text: "one" }, { text: "two" }, { text: "three" }, { text: "four" }])
    await using space = await makeWorkspace()
    await speaking(space, `
      if (ctx.isIdle()) return pi.sendUserMessage(picture)
      pi.sendUserMessage(picture, { deliverAs: "steer" })
      pi.sendUserMessage(picture.slice(1), { deliverAs: "followUp" })`)
    const rpc = startRpc(space, anthropic.args, { env: anthropic.env(stub.url) })
    await rpc.turn(rpc.send("prompt", { message: "go" }))
    expect([1, 2].map((at) => lastIn(stub, at))).toEqual([["result", "look", "image/png true"], ["image/png true"]])
    rpc.send("prompt", { message: "/speak" })
    await rpc.until(({ content, role, type }) => type === "message" && role === "assistant" && content === "three")
    expect(lastIn(stub, 3)).toEqual(["look", "image/png true"])
    const { stdout } = await rpc.end()
    expect(checkRecords(records(stdout), { mode: "rpc" })).toEqual([])
    expect(saved(space, ofSession(stdout)).filter(({ type }) => type === "user").map(({ content }) => content.map(({ type }: any) => type))).toEqual([
      ["text"], ["text", "image"], ["image"], ["text", "image"]
    ])
    const run = await space.nimlet(["--mode", "json", ...anthropic.args, "/speak"], { env: anthropic.env(stub.url) })
    expect([run.code, checkRecords(records(run.stdout))]).toEqual([0, []])
    expect(lastIn(stub, 4)).toEqual(["look", "image/png true"])
  })
})
