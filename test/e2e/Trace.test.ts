/** What nimlet and its extensions say to each other, in a file. */
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { makeWorkspace } from "../kit/Workspace.ts"

const program = `#!/usr/bin/env node
import { createInterface } from "node:readline"
const send = (message) => console.log(JSON.stringify(message))
send({ type: "register", commands: [{ name: "hello", description: "Greets." }] })
for await (const line of createInterface({ input: process.stdin })) {
  const { id, type } = JSON.parse(line)
  if (type === "command") send({ type: "response", id, message: "hello — héllo" })
}
`

describe("--trace", () => {
  it("has every line of an extension and to it, as it was, in order, for its owner alone", async () => {
    await using space = await makeWorkspace()
    await space.extension("greeter", { manifest: { name: "greeter", command: ["./x.mjs"] }, files: { "x.mjs": program } })
    const run = await space.nimlet(["-p", "--trace", "trace.jsonl", "--provider", "offline", "/hello"])
    expect(run).toMatchObject({ code: 0, stdout: "hello — héllo\n" })
    const file = join(space.work, "trace.jsonl")
    const frames = readFileSync(file, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line) as Record<string, string>)
    const told = frames.map(({ direction, line = "" }) => `${direction} ${JSON.parse(line).type}`)
    expect(told).toEqual(expect.arrayContaining(["in register", "out initialize", "out command", "in response", "out shutdown"]))
    expect(told.indexOf("out command")).toBeLessThan(told.indexOf("in response"))
    expect(frames.find(({ line }) => line?.includes("héllo"))).toMatchObject({ extension: "greeter", direction: "in", at: expect.stringMatching(/^\d{4}-.*Z$/) })
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it("that cannot be written is told before anything starts", async () => {
    await using space = await makeWorkspace()
    const run = await space.nimlet(["-p", "--trace", "gone/trace.jsonl", "--provider", "offline", "hello"])
    expect(run).toMatchObject({ code: 2, stdout: "" })
    expect(run.stderr).toMatch(/--trace: .*gone\/trace\.jsonl cannot be written/)
  })
})
