import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { startModelStub } from "../kit/ModelStub.ts"
import { anthropic, chat, chatConfig, type ProviderSetup, responses } from "../kit/Providers.ts"
import { checkRecords } from "@nimlet/protocol"
import { makeWorkspace, records, startNimlet, type Workspace } from "../kit/Workspace.ts"

/** Full at 20,000 tokens, of which the last 1,000 stay. */
const agent = { context_window: 30_000, reserve_tokens: 10_000, keep_recent_tokens: 1_000 }

const sessionFile = (space: Workspace) => {
  const folder = join(space.home, ".nimlet/sessions")
  return join(folder, readdirSync(folder).find((name) => name.endsWith(".jsonl"))!)
}
const linesOf = (file: string): ReadonlyArray<any> => readFileSync(file, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line))
const diagnostics = (stdout: string) => records(stdout).filter((record) => record["type"] === "diagnostic")
/** A file whose text is about so many tokens. */
const textFile = (word: string, tokens: number) => `${word} line of a long file\n`.repeat(Math.ceil(tokens * 4 / (word.length + 21)))

/** An extension that writes down what it hears of compaction, and answers with what stands in its folder. */
const listener = `#!/usr/bin/env node
import { appendFileSync, readFileSync } from "node:fs"
import { createInterface } from "node:readline"
const send = (message) => console.log(JSON.stringify(message))
const answers = JSON.parse(readFileSync(new URL("answers.json", import.meta.url), "utf8"))
send({ type: "register", commands: [], events: ["tool_call", "tool_result", "turn_start", "turn_end", "session_start", "session_end", "session_before_compact", "session_compact", "session_compact_failed"] })
for await (const line of createInterface({ input: process.stdin })) {
  const { type, id, event, payload } = JSON.parse(line)
  if (type !== "event") continue
  appendFileSync("heard.jsonl", JSON.stringify({ event, payload }) + "\\n")
  send({ type: "response", id, ...answers[event] })
}
`
const listen = (space: Workspace, answers: object = {}) =>
  space.extension("listener", { manifest: { name: "listener", command: ["./listener.mjs"] }, files: { "listener.mjs": listener, "answers.json": JSON.stringify(answers) } })
const heard = (space: Workspace, event: string): ReadonlyArray<any> =>
  linesOf(join(space.work, "heard.jsonl")).filter((line) => line.event === event).map((line) => line.payload)

describe("compaction", () => {
  // E-005 E-225 E-226 E-227 E-228 E-229 E-230 E-231 E-233 E-235 E-238 E-239 E-249
  it.each([anthropic, responses, chat])("happens between the steps of a turn, and a resumed session goes on from it ($name)", async (provider: ProviderSetup) => {
    await using space = await makeWorkspace()
    const read = (path: string) => ({ name: "read", args: { path } })
    await using stub = await startModelStub([
      { text: "I look.", tools: [read("a.txt"), read("b.txt")] },
      { tools: [read("c.txt")] },
      { text: "SUMMARY: a and b were read" },
      { text: "All read." },
      { text: "Still here." },
      { tools: [read("a.txt"), read("b.txt")] },
      { text: "SUMMARY: twice" },
      { text: "Done." }
    ])
    await space.file("~/.nimlet/config.json", JSON.stringify({ ...JSON.parse(chatConfig(stub.url)), agent }))
    for (const [name, word] of [["a.txt", "alpha"], ["b.txt", "beta"], ["c.txt", "gamma"]] as const) await space.file(name, textFile(word, 6_000))
    await listen(space, { turn_start: { entry: { seen: 1 } } })
    const nimlet = (...args: ReadonlyArray<string>) => space.nimlet(["--mode", "json", ...provider.args, ...args], { env: provider.env(stub.url) })

    const run = await nimlet("read everything")
    expect(run.code).toBe(0)
    expect(checkRecords(records(run.stdout))).toEqual([])
    expect(diagnostics(run.stdout)).toMatchObject([{ level: "warning", message: expect.stringContaining("Auto-compacted context") }])
    expect(stub.requests.map(({ problem, status }) => problem ?? status)).toEqual([200, 200, 200, 200])
    const bodies = stub.requests.map(({ body }) => JSON.stringify(body))
    expect(stub.requests[2]!.body).not.toHaveProperty("tools")
    expect(bodies[2]).toMatch(/"max(_completion|_output)?_tokens":4096/)
    expect(bodies[2]).toContain("beta line")
    expect(bodies[2]).not.toContain("gamma line")
    expect(bodies[3]).toContain("SUMMARY: a and b were read")
    expect(bodies[3]).not.toContain("beta line")
    expect(bodies[3]).toContain("gamma line")

    const file = sessionFile(space)
    const [header, ...entries] = linesOf(file)
    const at = entries.findIndex((entry) => entry.type === "compaction")
    expect(entries[at]).toMatchObject({ summary: "SUMMARY: a and b were read", tokens_before: expect.any(Number) })
    expect(entries[entries[at].first_kept_index]).toMatchObject({ type: "assistant", content: [{ type: "tool_use", name: "read", input: { path: "c.txt" } }] })
    expect(heard(space, "session_before_compact")).toEqual([{
      session_id: header.id, workspace: space.work, instruction: "", tokens_before: entries[at].tokens_before, entries: entries.slice(0, at)
    }])
    expect(heard(space, "session_compact")).toMatchObject([{ did_compact: true, first_kept_index: entries[at].first_kept_index }])
    expect(entries.map((entry) => entry.type)).toEqual(["user", "extension", "assistant", "tool_result", "tool_result", "assistant", "tool_result", "compaction", "assistant"])
    expect(entries.slice(0, 4)).toMatchObject([
      { role: "user", content: [{ type: "text", text: "read everything" }] },
      { extension: "listener", data: { seen: 1 } },
      {
        role: "assistant",
        content: [{ type: "text", text: "I look." }, { type: "tool_use", id: expect.any(String), name: "read", input: { path: "a.txt" } }, {}],
        provider: expect.any(String),
        model: expect.any(String),
        requested_model: expect.any(String),
        usage: { input_tokens: 100, output_tokens: 20 }
      },
      { id: expect.any(String), output: expect.stringContaining("alpha"), is_error: false }
    ])
    expect(entries.some((entry) => "workspace" in entry)).toBe(false)

    expect((await nimlet("--resume", "and now?")).code).toBe(0)
    const resumed = JSON.stringify(stub.requests[4]!.body)
    expect(resumed).toContain("SUMMARY: a and b were read")
    expect(resumed).not.toContain("beta line")

    expect((await nimlet("--resume", "read a and b again")).code).toBe(0)
    expect(stub.requests.map(({ problem, status }) => problem ?? status)).toEqual(Array.from({ length: 8 }, () => 200))
    expect(JSON.stringify(stub.requests[6]!.body)).toContain("SUMMARY: a and b were read")
    expect(JSON.stringify(stub.requests[7]!.body)).toContain("SUMMARY: twice")
    expect(heard(space, "session_before_compact")[1].entries).toContainEqual(entries[at])
    // What was written stays as it was.
    expect(linesOf(file).slice(0, entries.length + 1)).toEqual([header, ...entries])
  })

  // E-232 E-240 E-241 E-242 E-243 E-244 E-245 E-246 E-247 E-248
  it("shows extensions every kind of entry and part as the session has it", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ text: "SUMMARY" }, { text: "Yes." }])
    await space.file("~/.nimlet/config.json", JSON.stringify({ agent }))
    await listen(space)
    const text = (word: string) => ({ type: "text", text: textFile(word, 12_000) })
    const image = { type: "image", mimeType: "image/png" }
    const entries = [
      {
        type: "user",
        role: "user",
        content: [text("alpha"), { ...image, path: "a.png" }, { ...image, data: "AAAA" }, { type: "file", mimeType: "application/pdf", data: "AAAA", filename: "a.pdf" }, { type: "file", mimeType: "text/plain", path: "b.txt" }]
      },
      {
        type: "assistant",
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", signature: "s" },
          { type: "tool_use", id: "1", name: "read", input: {}, parse_error: "no JSON", thought_signature: "t" },
          { type: "tool_use", id: "2", name: "search", input: {}, hosted: true },
          { type: "tool_result", tool_use_id: "2", content: "found", is_error: false, images: [{ ...image, data: "AAAA" }] },
          { type: "source", url: "https://example.org", title: "Example", id: "s1", cited_text: "words", raw: { any: 1 } }
        ]
      },
      { type: "tool_result", id: "1", output: "none", is_error: true, images: [{ ...image, data: "AAAA" }] },
      { type: "assistant", role: "assistant", content: [text("beta")] }
    ]
    await space.file("~/.nimlet/sessions/old.jsonl", [{ type: "session", workspace: space.work }, ...entries].map((line) => `${JSON.stringify(line)}\n`).join(""))
    const run = await space.nimlet(["--mode", "json", ...anthropic.args, "--session", "old", "go on"], { env: anthropic.env(stub.url) })
    expect(run.code).toBe(0)
    const [asked] = heard(space, "session_before_compact")
    expect(asked.entries.slice(0, entries.length)).toEqual(entries)
    expect(asked.entries).toHaveLength(entries.length + 1)
  })

  // E-137 E-224 X-037
  it("goes by the built-in summary when that of an extension lacks something, warns, and takes a better one afterwards", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ text: "One." }, { text: "SUMMARY" }, { text: "Two." }])
    await space.file("~/.nimlet/config.json", JSON.stringify({ agent }))
    await listen(space, { session_before_compact: { compaction: { summary: "mine" } }, session_compact: { allow: false, reason: "no", compaction: { summary: "BETTER", first_kept_index: 2 } } })
    const env = anthropic.env(stub.url)
    await space.nimlet(["--mode", "json", ...anthropic.args, "begin"], { env, stdin: textFile("alpha", 12_000) })
    const run = await space.nimlet(["--mode", "json", ...anthropic.args, "--resume", "go on"], { env, stdin: textFile("beta", 10_000) })
    expect(run.code).toBe(0)
    expect(diagnostics(run.stdout)).toMatchObject([
      { level: "warning", extension: "listener", message: expect.stringContaining("compaction") },
      { level: "warning", message: expect.stringContaining("Auto-compacted context") }
    ])
    expect(linesOf(sessionFile(space)).filter((entry) => entry.type === "compaction")).toMatchObject([{ summary: "SUMMARY" }, { summary: "BETTER", first_kept_index: 2 }])
    expect(heard(space, "session_compact")).toMatchObject([{ did_compact: true, summary: "SUMMARY" }])
    const last = JSON.stringify(stub.requests[2]!.body)
    expect(last).toContain("BETTER")
    expect(last).not.toContain("SUMMARY")
  })

  //
  it("that fails, or is stopped by a signal, leaves the session as it was, and a later turn compacts", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ text: "One." }, { status: 400 }, { text: "Two." }, { hang: true }, { text: "SUMMARY" }, { text: "Three." }])
    await space.file("~/.nimlet/config.json", JSON.stringify({ agent }))
    await listen(space)
    const env = anthropic.env(stub.url)
    const args = (...more: ReadonlyArray<string>) => ["--mode", "json", ...anthropic.args, ...more]
    await space.nimlet(args("begin"), { env, stdin: textFile("alpha", 12_000) })

    const failed = await space.nimlet(args("--resume", "go on"), { env, stdin: textFile("beta", 10_000) })
    expect(failed.code).toBe(0)
    expect(diagnostics(failed.stdout)).toMatchObject([{ level: "warning", message: expect.stringContaining("Compaction failed") }])
    expect(heard(space, "session_compact_failed")).toMatchObject([{ error: expect.stringContaining("scripted failure"), tokens_before: expect.any(Number) }])
    expect(heard(space, "session_compact")).toMatchObject([{ did_compact: false, summary: "", first_kept_index: 0 }])
    expect(JSON.stringify(stub.requests[2]!.body)).toContain("alpha line")

    const running = startNimlet({ args: args("--resume", "and on"), cwd: space.work, home: space.home, env })
    await stub.arrived(4)
    running.signal("SIGINT")
    const stopped = await running.ended
    expect(stopped.code).toBe(130)
    expect(checkRecords(records(stopped.stdout))).toEqual([])
    expect(linesOf(sessionFile(space)).map((entry) => entry.type)).toEqual(["session", "user", "assistant", "user", "assistant", "user"])
    expect((await stub.ended(4)).aborted).toBe(true)

    const third = await space.nimlet(args("--resume", "again"), { env })
    expect(third.code).toBe(0)
    expect(linesOf(sessionFile(space)).filter((entry) => entry.type === "compaction")).toMatchObject([{ summary: "SUMMARY" }])
    expect(stub.requests.map(({ problem, status }) => problem ?? status)).toEqual([200, 400, 200, 200, 200, 200])
  })

  // E-169 E-207
  it("asked for by hand says whether it was done: nothing to do is no failure, a refusal and a failed summary are", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ text: "One." }, { text: "Two." }, { status: 400 }, { text: "SUMMARY" }])
    await space.file("~/.nimlet/config.json", JSON.stringify({ agent }))
    await listen(space)
    const env = anthropic.env(stub.url)
    const say = (...args: ReadonlyArray<string>) => space.nimlet(["-p", ...anthropic.args, ...args], { env })
    await say("begin")
    const nothing = await say("--resume", "/compact")
    expect([nothing.code, nothing.stdout]).toEqual([0, "Nothing to compact\n"])
    await space.nimlet(["-p", ...anthropic.args, "--resume", "go on"], { env, stdin: textFile("alpha", 2_000) })
    const failed = await say("--resume", "/compact mind the names")
    expect([failed.code, failed.stdout]).toEqual([1, ""])
    expect(failed.stderr).toContain("error: Compaction failed: ")
    const done = await say("--resume", "/compact mind the names")
    expect([done.code, done.stdout]).toEqual([0, "Compacted context\n"])
    expect(heard(space, "session_before_compact").map(({ instruction }) => instruction)).toEqual(["", "mind the names", "mind the names"])
    await listen(space, { session_before_compact: { allow: false, reason: "not while tests run" } })
    const refused = await space.nimlet(["--mode", "json", ...anthropic.args, "--resume", "/compact"], { env })
    expect(refused.code).toBe(1)
    expect(checkRecords(records(refused.stdout))).toEqual([])
    expect(records(refused.stdout).find((record) => record["type"] === "error")).toMatchObject({ message: "Compaction refused: not while tests run" })
  })
})
