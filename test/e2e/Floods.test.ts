/** Extensions that pour without end, in a run of the real program: it ends, says what it dropped, and is not drowned. */
import { checkRecords } from "@nimlet/protocol"
import { describe, expect, it } from "vitest"
import { lastingSurvivors, makeWorkspace, records } from "../kit/Workspace.ts"

/** Answers each event, and from the first on writes `line` for ever. */
const pouring = (line: string) => `#!/usr/bin/env node
import { createInterface } from "node:readline"
const put = (text) => process.stdout.write(text)
put(JSON.stringify({ type: "register", commands: [], events: ["turn_start"] }) + "\\n")
let begun = false
const pour = async () => {
  for (let n = 0; ; n++) if (!put(${line})) await new Promise((done) => process.stdout.once("drain", done))
}
for await (const text of createInterface({ input: process.stdin })) {
  const message = JSON.parse(text)
  if (message.type === "shutdown") process.exit(0)
  if (message.type !== "event") continue
  put(JSON.stringify({ type: "response", id: message.id }) + "\\n")
  if (!begun) void pour()
  begun = true
}
`
const update = (fields: string) => `JSON.stringify({ type: "update", ${fields} }) + "\\n"`

describe("an extension that writes without end", () => {
  it.each([
    ["notifications", update(`notification: { level: "warning", message: "number " + n }`), /^extension 'pours': [\d,]+ notifications were not shown/],
    ["messages to the model", update(`user_message: { content: "number " + n, deliver_as: "follow_up" }`), /^extension 'pours': [\d,]+ messages were dropped, too many wait already$/],
    ["entries", update(`entry: { n }`), undefined],
    ["noise", `"[debug] number " + n + "\\n"`, /^extension 'pours' wrote a line that is not a JSON object: \[debug\] number 0 /]
  ] as const)("(%s) keeps no run from its end, and is told of in few words", async (_, line, told) => {
    await using space = await makeWorkspace()
    await space.extension("pours", { manifest: { name: "pours", command: ["./pours.mjs"] }, files: { "pours.mjs": pouring(line) } })
    const steps = [...Array.from({ length: 4 }, () => ({ tool: "bash", args: { command: "sleep 0.3" } })), { text: "done", repeat: 200 }]
    await space.file("script.json", JSON.stringify({ steps }))
    const run = await space.nimlet(["--mode", "json", "--provider", "scripted", "--script", "script.json", "go"])
    expect([run.code, run.timedOut]).toEqual([0, false])
    const all = records(run.stdout)
    expect(checkRecords(all)).toEqual([])
    expect(all.filter(({ type }) => type === "run_start")).toHaveLength(1)
    expect(all.filter(({ type }) => type === "step_start").length).toBeLessThan(5 + 101)
    const messages = all.flatMap(({ message, type }) => type === "diagnostic" ? [String(message)] : [])
    expect(messages.length).toBeLessThan(300)
    expect(messages.filter((message) => told?.test(message)).length > 0).toBe(told !== undefined)
    expect(await lastingSurvivors(space.root)).toEqual([])
  })
})
