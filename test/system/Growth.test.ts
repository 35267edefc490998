/** A process that lives long: what its heap holds after the same thing was done many times is what it held before. */
import { existsSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { type Nimlet, startNimlet } from "@nimlet/sdk"
import { makeWorkspace, project, type Workspace } from "../kit/Workspace.ts"

/** Loaded into the process: writes a heap snapshot at SIGUSR2, `heap.json`, and says when it is there. */
const probe = `const { isMainThread } = require("node:worker_threads")
if (isMainThread) {
  const { writeFileSync } = require("node:fs")
  writeFileSync("pid", String(process.pid))
  process.on("SIGUSR2", () => {
    require("node:v8").writeHeapSnapshot("heap.json")
    writeFileSync("taken", "")
  })
}
`
const nameOf = (strings: ReadonlyArray<string>, at: number) => strings[at]!.slice(0, 40)

/** Bytes by the kind and name of what takes them, of a snapshot. */
const sizesOf = (file: string): ReadonlyMap<string, number> => {
  const { nodes, snapshot, strings } = JSON.parse(readFileSync(file, "utf8"))
  const { node_fields: fields, node_types: [kinds] } = snapshot.meta
  const [kind, name, size] = ["type", "name", "self_size"].map((field) => fields.indexOf(field))
  const sizes = new Map<string, number>()
  for (let at = 0; at < nodes.length; at += fields.length) {
    const what = kinds[nodes[at + kind!]]
    // What V8 compiles for what runs often is no memory of ours.
    if (what === "code" || what === "hidden") continue
    const key = what === "string" ? what : `${what} ${nameOf(strings, nodes[at + name!])}`
    sizes.set(key, (sizes.get(key) ?? 0) + nodes[at + size!])
  }
  return sizes
}

const grown = async (space: Workspace, nimlet: Nimlet, repeat: (times: number) => Promise<void>, times: number) => {
  const take = async () => {
    process.kill(Number(readFileSync(join(space.work, "pid"), "utf8")), "SIGUSR2")
    await expect.poll(() => existsSync(join(space.work, "taken")), { timeout: 60_000 }).toBe(true)
    await nimlet.request("get_state", {})
    const sizes = sizesOf(join(space.work, "heap.json"))
    for (const name of ["heap.json", "taken"]) rmSync(join(space.work, name))
    return sizes
  }
  // What is loaded, compiled and remembered once is so after some times.
  await repeat(Math.ceil(times / 2))
  const before = await take()
  await repeat(times)
  const after = await take()
  const more = [...after].map(([key, size]) => [key, size - (before.get(key) ?? 0)] as const).filter(([, size]) => Math.abs(size) > 20_000)
  const sum = (sizes: ReadonlyMap<string, number>) => sizes.values().reduce((total, size) => total + size, 0)
  return { bytes: sum(after) - sum(before), more: more.toSorted((a, b) => b[1] - a[1]) }
}

const start = async (space: Workspace, ...args: ReadonlyArray<string>) => {
  const file = await space.file("probe.cjs", probe)
  return startNimlet({
    args: [...args],
    cwd: space.work,
    bin: process.env["NIMLET_BIN"] ?? join(project, "apps/cli/dist/nimlet.mjs"),
    env: { PATH: process.env["PATH"] ?? "", HOME: space.home, NODE_OPTIONS: `--require "${file}"` }
  })
}

const program = {
  manifest: { name: "listens", command: ["./listens.sh"] },
  files: {
    "listens.sh": `#!/bin/sh
echo '{"type":"register","commands":[],"events":["tool_call"]}'
while read -r line; do case $line in *'"type":"shutdown"'*) exit ;; esac; done
`
  }
}

describe("the heap", () => {
  it("grows by what a session holds, and nothing else, over 1,000 turns", async () => {
    await using space = await makeWorkspace()
    await space.file("script.json", JSON.stringify({ steps: [{ text: "Done.", repeat: 2_000 }] }))
    await using nimlet = await start(space, "--script", "script.json")
    const { bytes, more } = await grown(space, nimlet, async (times) => {
      for (let n = 0; n < times; n++) await nimlet.prompt("go")
    }, 1_000)
    // Two entries a turn, and the messages that are made of them.
    expect(bytes < 4_000 * 1_000 ? [] : more).toEqual([])
  })

  it("does not grow over 100 reloads, with a program and a module", async () => {
    await using space = await makeWorkspace()
    await space.extension("listens", program)
    await space.file("~/.pi/agent/extensions/module.mjs", "export default (pi) => { pi.on('tool_call', () => {}) }")
    await using nimlet = await start(space, "--provider", "offline")
    const { bytes, more } = await grown(space, nimlet, async (times) => {
      for (let n = 0; n < times; n++) await nimlet.request("reload", {})
    }, 100)
    expect(bytes < 2_000 * 100 ? [] : more).toEqual([])
  })

  it("does not grow over 100 changes of the session", async () => {
    await using space = await makeWorkspace()
    await space.file("script.json", JSON.stringify({ steps: [{ text: "Done.", repeat: 1_000 }] }))
    await using nimlet = await start(space, "--script", "script.json")
    const { bytes, more } = await grown(space, nimlet, async (times) => {
      for (let n = 0; n < times; n++) {
        await nimlet.prompt("go")
        await nimlet.request("new", {})
      }
    }, 100)
    expect(bytes < 2_000 * 100 ? [] : more).toEqual([])
  })
})
