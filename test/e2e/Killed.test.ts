/** `kill -9` at any moment: what was finished is kept, nothing is done twice, and a strict provider takes what is left. */
import { existsSync, readFileSync } from "node:fs"
import { setTimeout } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { entriesOf, killRuns } from "../kit/Kills.ts"
import { startModelStub } from "../kit/ModelStub.ts"
import { anthropic } from "../kit/Providers.ts"
import { sessionFiles } from "../kit/SavedSessions.ts"
import { makeWorkspace, startNimlet, type Workspace } from "../kit/Workspace.ts"

const kills = 10

/** Waits for what another process writes. */
const until = async (holds: () => boolean) => {
  while (!holds()) await setTimeout(10)
}
const saved = ({ home }: Workspace) => sessionFiles(home).flatMap(entriesOf)
const textIn = (body: unknown) => JSON.stringify(body)

describe("a run that is killed", () => {
  it(`${kills} times in one session, at any moment, loses nothing that was finished, repeats nothing, and is gone on with`, { timeout: 180_000 }, async () => {
    const seed = Date.now() >>> 0
    await using stub = await startModelStub([])
    await using space = await makeWorkspace()
    const { killed, problems } = await killRuns(kills, seed, stub, space)
    expect(problems, `seed ${seed}`).toEqual([])
    expect(killed, `seed ${seed}`).toBeGreaterThan(kills / 2)
  })

  it("while one of several calls still runs has the results of the others", { timeout: 60_000 }, async () => {
    await using stub = await startModelStub([{ tools: [{ name: "wait", args: {} }, { name: "read", args: { path: "a.txt" } }] }, { text: "Done." }])
    await using space = await makeWorkspace()
    await space.file("a.txt", "alpha needle\n")
    await space.extension("waiting", {
      manifest: { name: "waiting", command: ["./waiting.mjs"] },
      files: {
        "waiting.mjs": `#!/usr/bin/env node
console.log(JSON.stringify({ type: "register", commands: [], tools: [{ name: "wait", description: "Waits", input_schema: { type: "object" }, capabilities: ["read"] }] }))
process.stdin.resume()
`
      }
    })
    const args = (words: string) => ["--mode", "json", ...anthropic.args, "--resume", words]
    const env = anthropic.env(stub.url)
    const run = startNimlet({ args: args("look"), cwd: space.work, home: space.home, env })
    await until(() => saved(space).some(({ output, type }) => type === "tool_result" && output.includes("needle")))
    run.signal("SIGKILL")
    await run.ended
    expect((await space.nimlet(args("go on"), { env })).code).toBe(0)
    expect(stub.requests.map(({ problem, status }) => problem ?? status)).toEqual([200, 200])
    const results = new Map(saved(space).flatMap(({ output, tool, type }) => type === "tool_result" ? [[tool, output] as const] : []))
    expect(results.get("read")).toContain("alpha needle")
    expect(results.get("wait")).toContain("outcome is unknown")
    const sent = textIn(stub.requests[1]!.body)
    expect(sent.indexOf("outcome is unknown")).toBeLessThan(sent.indexOf("alpha needle"))
  })

  it("while the model answers keeps what had come of the answer, marked as cut, and the model reads it", { timeout: 60_000 }, async () => {
    await using stub = await startModelStub([{ thinking: "hm", deltas: ["The first half ", "is this ", "…and never the end"], hang: 8 }, { text: "Done." }])
    await using space = await makeWorkspace()
    const args = (words: string) => ["--mode", "json", ...anthropic.args, "--resume", words]
    const env = anthropic.env(stub.url)
    const run = startNimlet({ args: args("tell me"), cwd: space.work, home: space.home, env })
    await until(() => sessionFiles(space.home).some((file) => existsSync(`${file}.draft`) && readFileSync(`${file}.draft`, "utf8").includes("half")))
    run.signal("SIGKILL")
    await run.ended
    const [file] = sessionFiles(space.home)
    const draft = readFileSync(`${file}.draft`, "utf8")
    expect((await space.nimlet(args("go on"), { env })).code).toBe(0)
    const answer = saved(space).find(({ type }) => type === "assistant")!
    expect(answer).toMatchObject({ cut: true, provider: "anthropic", content: [{ type: "thinking" }, { type: "text", text: expect.stringMatching(/^The first half /) }] })
    for (const part of answer["content"]) expect(draft).toContain(part.text ?? part.thinking)
    expect(textIn(stub.requests[1]!.body)).toContain("The first half ")
    expect(textIn(stub.requests[1]!.body)).toContain("[This answer was cut off here.]")
    expect(existsSync(`${file}.draft`)).toBe(false)
    expect(stub.requests.map(({ problem, status }) => problem ?? status)).toEqual([200, 200])
  })
})
