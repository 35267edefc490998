/** An extension that does as it is told: it registers what a test says, writes down what it hears, and answers with prepared lines. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Workspace } from "./Workspace.ts"

/** What a puppet is. */
export interface Puppet {
  /** Fields of its `register` beside `commands`, which are none by default. */
  readonly register?: object
  /**
   * What it writes for a tool, a command or an event of that name: a line without `type` is a response to it. What has no
   * entry is acknowledged; an empty list is silence.
   */
  readonly replies?: Readonly<Record<string, ReadonlyArray<object>>>
  readonly manifest?: object
  /** As for an extension's files. */
  readonly root?: string
}

/** A line a puppet heard, under its name and process. */
export interface HeardLine {
  readonly by: string
  readonly pid: number
  readonly line: any
}

const program = `#!/usr/bin/env node
import { appendFileSync, readFileSync } from "node:fs"
import { createInterface } from "node:readline"
const { by, register, replies } = JSON.parse(readFileSync(new URL("puppet.json", import.meta.url), "utf8"))
const send = (message) => console.log(JSON.stringify(message))
send({ type: "register", commands: [], ...register })
for await (const text of createInterface({ input: process.stdin })) {
  const line = JSON.parse(text)
  appendFileSync("puppets.jsonl", JSON.stringify({ by, pid: process.pid, line }) + "\\n")
  if (!["tool", "command", "event"].includes(line.type)) continue
  for (const reply of replies[line.event ?? line.name] ?? [{}]) send(reply.type === undefined ? { type: "response", id: line.id, ...reply } : reply)
}
`

/** Puts a puppet into a workspace's home, or under its `root`. */
export const installPuppet = (space: Workspace, name: string, { manifest = {}, register = {}, replies = {}, root }: Puppet): Promise<string> =>
  space.extension(name, {
    manifest: { name, command: ["./puppet.mjs"], ...manifest },
    files: { "puppet.mjs": program, "puppet.json": JSON.stringify({ by: name, register, replies }) },
    ...(root === undefined ? {} : { root })
  })

/** What all puppets of a workspace have heard, in order. */
export const heardBy = (space: Workspace): ReadonlyArray<HeardLine> => {
  const file = join(space.work, "puppets.jsonl")
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line)) : []
}
