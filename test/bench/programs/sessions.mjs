/**
 * What the session store costs: resuming long sessions, listing many, appending to a short one and a long one. Each case
 * runs in a process of its own, so that its peak memory is its own.
 *
 *     node test/bench/programs/sessions.mjs [--check | --json] [CASE]…
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer } from "effect"
import { spawnSync } from "node:child_process"
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Sessions, transcript } from "@nimlet/session"
import { median } from "../measure.mjs"

const at = "2026-01-01T00:00:00.000Z"
const line = (value) => `${JSON.stringify(value)}\n`
const words = "the quick brown fox jumps over the lazy dog, naïve as ever; "
const text = (length) => words.repeat(Math.ceil(length / words.length)).slice(0, length)

/** A session file of so many entries, `bytes` of text in each tool's result: user, call, result and answer in turn. */
const writeSession = (folder, id, { bytes, entries, longLine = 0, workspace = "/work" }) => {
  const file = openSync(join(folder, `${id}.jsonl`), "w")
  writeSync(file, line({ type: "session", version: 1, id, workspace, at }))
  let pieces = []
  for (let n = 0; n < entries; n++) {
    const stamp = { entry_id: n.toString(16).padStart(8, "0"), at }
    pieces.push(line(
      n % 4 === 0
        ? { type: "user", role: "user", content: [{ type: "text", text: `${n}: ${text(200)}` }], ...stamp }
        : n % 4 === 1
        ? {
          type: "assistant",
          role: "assistant",
          content: [{ type: "text", text: "I shall read it." }, { type: "tool_use", id: `call-${n}`, name: "read", input: { path: `f${n}.txt` } }],
          provider: "anthropic",
          model: "m",
          usage: { input_tokens: 1000, output_tokens: 50 },
          ...stamp
        }
        : n % 4 === 2
        ? { type: "tool_result", id: `call-${n - 1}`, output: text(n === 2 && longLine > 0 ? longLine : bytes), is_error: false, tool: "read", ...stamp }
        : { type: "assistant", role: "assistant", content: [{ type: "text", text: text(300) }], provider: "anthropic", model: "m", ...stamp }
    ))
    if (pieces.length === 500) {
      writeSync(file, pieces.join(""))
      pieces = []
    }
  }
  writeSync(file, pieces.join(""))
  closeSync(file)
}

const withSessions = (folder, body) =>
  Effect.runPromise(Effect.scoped(Effect.flatMap(Sessions, body)).pipe(
    Effect.provide(Layer.provideMerge(Sessions.layer(folder, { pid: process.pid, isAlive: () => true }), NodeServices.layer))
  ))

const timed = async (body) => {
  const start = performance.now()
  const before = process.cpuUsage()
  const value = await body()
  const { system, user } = process.cpuUsage(before)
  return { ms: performance.now() - start, cpu: (system + user) / 1000, value }
}

const resume = (shape, limits) => ({
  prepare: (folder) => writeSession(folder, "1", shape),
  run: async (folder) => {
    const { cpu, ms, value } = await timed(() => withSessions(folder, (sessions) =>
      Effect.flatMap(sessions.open("1"), (session) => Effect.map(session.entries, (entries) => transcript(entries).length))))
    return { ms, cpu, messages: value, MB: statSync(join(folder, "1.jsonl")).size / 1e6 }
  },
  limits
})

const say = { type: "user", role: "user", content: [{ type: "text", text: text(500) }] }
const append = (shape) => ({
  prepare: (folder) => writeSession(folder, "1", shape),
  run: (folder) =>
    withSessions(folder, Effect.fnUntraced(function*(sessions) {
      const session = yield* sessions.open("1")
      for (let n = 0; n < 500; n++) yield* session.append(say)
      const times = []
      for (let n = 0; n < 1000; n++) {
        const start = performance.now()
        yield* session.append(say)
        times.push(performance.now() - start)
      }
      return { ms: median(times) }
    })),
  limits: { ms: 1 }
})

const cases = {
  "resume 20,000 entries": resume({ entries: 20_000, bytes: 850 }, { ms: 400 }),
  "resume 50,000 entries, 200 MB": resume({ entries: 50_000, bytes: 13_700, longLine: 20_000_000 }, { ms: 3000, rss: 600 }),
  "list 500 sessions": {
    prepare: (folder) => {
      for (let n = 0; n < 500; n++) writeSession(folder, String(1000 + n), { entries: 400, bytes: 850, workspace: n % 2 === 0 ? "/work" : "/other" })
    },
    run: async (folder) => {
      const { cpu, ms, value } = await timed(() => withSessions(folder, (sessions) => sessions.list({ workspace: "/work", query: "quick FOX" })))
      return { ms, cpu, sessions: value.length }
    },
    limits: { ms: 300 }
  },
  "append to a new session": append({ entries: 0, bytes: 0 }),
  "append to 50,000 entries": append({ entries: 50_000, bytes: 850 })
}

/** The peak memory of this process, in MiB, where the system tells; since its start, so with all that Node and Effect take. */
const peak = () => process.resourceUsage().maxRSS / 1024

const runCase = (name) => {
  const folder = mkdtempSync(join(tmpdir(), "nimlet-sessions-"))
  try {
    mkdirSync(join(folder, "s"))
    cases[name].prepare(join(folder, "s"))
    const { status, stdout } = spawnSync(process.execPath, [import.meta.filename, "--run", name, join(folder, "s")], { stdio: ["ignore", "pipe", "inherit"] })
    if (status !== 0) throw new Error(`${name} ended with ${status}`)
    return JSON.parse(String(stdout))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const [first, ...rest] = process.argv.slice(2)
if (first === "--run") {
  const found = await cases[rest[0]].run(rest[1])
  console.log(JSON.stringify({ ...found, rss: peak() }))
} else if (first === "--json") {
  console.log(JSON.stringify(runCase(rest[0])))
} else {
  const check = first === "--check"
  const names = (check ? rest : process.argv.slice(2)).length > 0 ? (check ? rest : process.argv.slice(2)) : Object.keys(cases)
  for (const name of names) {
    const found = runCase(name)
    const figures = Object.entries(found).map(([key, value]) => `${key} ${value < 10 ? value.toFixed(2) : Math.round(value)}`)
    console.log(`${name.padEnd(32)} ${figures.join(", ")}`)
    for (const [key, limit] of Object.entries(cases[name].limits)) {
      if (check && found[key] > limit) {
        process.stderr.write(`bench: ${name}: ${key} ${found[key].toFixed(1)} is over ${limit}\n`)
        process.exitCode = 1
      }
    }
  }
}
