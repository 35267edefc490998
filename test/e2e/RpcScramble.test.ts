/** Commands of RPC mode in any order and number: each has one reply, each turn its end, and the stream is right. */
import { checkRecords } from "@nimlet/protocol"
import { describe, expect, it } from "vitest"
import { startRpc, strangers } from "../kit/RpcDriver.ts"
import { makeWorkspace, records } from "../kit/Workspace.ts"

/** Numbers from 0 up to 1, the same for the same seed. */
const randomOf = (seed: number) => () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

const call = { name: "bash", args: { command: "echo a; sleep 0.05; echo b" } }
const step = { thinking: "hm", text: "I look. ", deltas: 10, chunk: 1, chunk_delay_ms: 2, tools: [{ name: "glob", args: { pattern: "*" } }, call] }
const steps = Array.from({ length: 60 }, () => [step, { text: "word ", deltas: 8, chunk: 2, chunk_delay_ms: 2 }]).flat()

const kinds: ReadonlyArray<readonly [type: string, body: object]> = [
  ...Array.from({ length: 3 }, () => ["prompt", { message: "go" }] as const),
  ["prompt", { message: "go", streamingBehavior: "steer" }], ["prompt", { message: "go", streamingBehavior: "followUp" }],
  ["steer", { message: "mind" }], ["follow_up", { message: "then" }], ["follow_up", { message: "then" }],
  ["interrupt", {}], ["interrupt", {}], ["clear_queue", {}], ["get_state", {}], ["stats", {}], ["list_sessions", {}],
  ["new", {}], ["resume", {}], ["fork", { message: 1 }], ["compact", {}], ["reload", {}],
  ["command", { name: "help" }], ["command", { name: "new" }], ["command", { name: "nonsense" }], ["set_mode", { mode: "plan" }], ["set_mode", { mode: "act" }]
]

describe("commands of any kind, one upon the other", () => {
  it.each([1, 7, 99, 555, 1234, 4242])("are answered once each, and no turn is without its end (%i)", async (seed) => {
    const random = randomOf(seed)
    const pick = <A>(all: ReadonlyArray<A>): A => all[Math.floor(random() * all.length)]!
    await using space = await makeWorkspace()
    await space.file("script.json", JSON.stringify({ steps }))
    const rpc = startRpc(space, ["--script", "script.json"])
    const sent: Array<string> = []
    for (let burst = 0; burst < 12; burst++) {
      for (let size = Math.floor(random() * 6); size > 0; size--) sent.push(rpc.send(...pick(kinds)))
      // The next come so many answers later.
      for (let pause = Math.floor(random() * 8); pause > 0; pause--) {
        const asked = rpc.send("list_models", { query: "nothing has this name" })
        sent.push(asked)
        await rpc.until((record) => record["id"] === asked)
      }
    }
    if (random() < 0.5) sent.push(rpc.send("shutdown"))
    const { code, stdout } = await rpc.end()
    const all = records(stdout)
    expect(code).toBe(0)
    expect(checkRecords(all, { mode: "rpc" })).toEqual([])
    expect(strangers(all, "rpc")).toEqual([])
    expect(all.filter(({ type }) => type === "response").map(({ id }) => id).toSorted()).toEqual(sent.toSorted())
  }, 40_000)
})
