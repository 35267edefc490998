/** Who is measured, and how each one is told its prompt, its model, where that answers, and which extensions it has. */
import { execFileSync } from "node:child_process"
import { appendFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"

const root = resolve(import.meta.dirname, "../..")
const programs = join(import.meta.dirname, "programs")
export const model = "bench-model"

const write = (path, text) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
const writeLines = (path, lines) => {
  write(path, "")
  for (let at = 0; at < lines.length; at += 1_000) appendFileSync(path, lines.slice(at, at + 1_000).map((line) => `${JSON.stringify(line)}\n`).join(""))
}
const writeJson = (path, value) => write(path, JSON.stringify(value, null, 2))
const numbers = (count) => Array.from({ length: count }, (_, n) => `e${String(n).padStart(2, "0")}`)

/** A module with the two hooks of a tool call; both pi and our worker threads run it. */
const hookModule = "export default function (pi) {\n  pi.on(\"tool_call\", () => {})\n  pi.on(\"tool_result\", () => {})\n}\n"

/** Puts `count` extensions with the two hooks of a tool call where a family has its own. */
const ourExtensions = {
  program: (root) => (home, count) => {
    for (const name of numbers(count)) {
      writeJson(join(home, root, name, "extension.json"), { name, command: [process.execPath, join(programs, "extension-program.mjs"), "--events", "tool_call,tool_result"] })
    }
  },
  module: (root) => (home, count) => {
    for (const name of numbers(count)) write(join(home, root, `${name}.ts`), hookModule)
  }
}
const families = {
  nimlet: ourExtensions.program(".nimlet/extensions"),
  niminal: ourExtensions.program(".niminal/extensions"),
  atomic: ourExtensions.module(".atomic/agent/extensions")
}

/** A JSON-mode record of ours as the text it brings, or undefined. */
const ourDelta = (record) => record.type === "message_delta" ? record.delta : undefined

/**
 * A subject. `prepare({home, url, wire, compaction, extensions: {family, count}})` writes what it has to find and returns its
 * environment; `args(mode, prompt, session)` are the arguments after `node` for `version`, `text`, `json`, `rpc` and `tui`; `delta`
 * tells the text that a JSON record brings, `isEnd` whether an RPC record is the end of a turn, `writeSession` makes a
 * session of so many entries, each tool's result of so many sentences, and returns what `args` takes for it.
 */
export const floor = () => ({
  name: "floor",
  prepare: ({ url, wire }) => ({ BASE: url, API: wire }),
  args: (mode, prompt) => mode === "version" ? ["-e", "console.log(process.version)"] : [join(programs, "floor.mjs"), ...mode === "json" ? ["--json"] : [], prompt],
  delta: ourDelta
})

const stamp = "2026-01-01T00:00:00.000Z"
const sentence = "The quick brown fox jumps over the lazy dog, and reads what is written there. "

export const nimlet = ({ bin = process.env.NIMLET_BIN ?? join(root, "apps/cli/dist/nimlet.mjs"), nodeArgs = [], wire }) => {
  const flags = ["--provider", wire === "anthropic" ? "anthropic" : "bench", "--model", model]
  const modes = { version: ["--version"], text: ["-p", ...flags], json: ["--mode", "json", ...flags], rpc: ["--mode", "rpc", ...flags], tui: flags }
  return {
    name: "nimlet",
    prepare: ({ compaction = false, extensions, home, url }) => {
      if (extensions !== undefined) families[extensions.family](home, extensions.count)
      const providers = { bench: { api: wire, endpoint: `${url}/v1`, api_key_env: "BENCH_KEY", models: [{ id: model }] } }
      writeJson(join(home, ".nimlet/config.json"), { agent: { compaction_enabled: compaction }, ...(wire === "anthropic" ? {} : { providers }) })
      return wire === "anthropic" ? { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "x" } : { BENCH_KEY: "x" }
    },
    args: (mode, prompt, session) => [
      ...nodeArgs, bin, ...modes[mode], ...(session === undefined ? [] : ["--session", session]), ...(prompt === undefined ? [] : [prompt])
    ],
    delta: ourDelta,
    isEnd: ({ type }) => type === "run_end",
    writeSession: (home, workspace, { entries, sentences }) => {
      const lines = [{ type: "session", version: 1, id: "long", workspace, at: stamp }]
      const output = sentence.repeat(sentences)
      for (let n = 0; n < entries; n += 4) {
        const at = (k) => ({ entry_id: (n + k).toString(16).padStart(8, "0"), at: stamp })
        lines.push({ type: "user", role: "user", content: [{ type: "text", text: `${n}: ${sentence}` }], ...at(0) })
        lines.push({ type: "assistant", role: "assistant", content: [{ type: "text", text: sentence }, { type: "tool_use", id: `call-${n}`, name: "read", input: { path: `f${n}.txt` } }], provider: "anthropic", model, ...at(1) })
        lines.push({ type: "tool_result", id: `call-${n}`, output, is_error: false, tool: "read", ...at(2) })
        lines.push({ type: "assistant", role: "assistant", content: [{ type: "text", text: sentence }], provider: "anthropic", model, ...at(3) })
      }
      writeLines(join(home, ".nimlet/sessions/long.jsonl"), lines)
      return "long"
    }
  }
}

const piPackage = "@earendil-works/pi-coding-agent@1.6.0"

/** pi's program: in the folder or file given, or installed by npm into a folder for temporary files, where it stays for the next time. */
const piProgram = (path) => {
  if (path !== undefined && !existsSync(path)) throw new Error(`no pi at ${path}`)
  if (path !== undefined && statSync(path).isFile()) return realpathSync(path)
  const folder = path ?? join(tmpdir(), "nimlet-bench-pi-1.6.0")
  const program = join(folder, "node_modules/.bin/pi")
  if (!existsSync(program)) {
    process.stderr.write(`bench: installing ${piPackage} into ${folder}\n`)
    const fresh = mkdtempSync(`${folder}-`)
    writeJson(join(fresh, "package.json"), { private: true })
    execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", piPackage], { cwd: fresh, stdio: ["ignore", "ignore", "inherit"] })
    cpSync(fresh, folder, { recursive: true, verbatimSymlinks: true })
    rmSync(fresh, { recursive: true, force: true })
  }
  return realpathSync(program)
}

export const pi = ({ path, wire }) => {
  const bin = piProgram(path)
  const flags = ["--provider", "bench", "--model", model]
  const modes = { version: ["--version"], text: [...flags, "-p"], json: [...flags, "--mode", "json", "-p"], rpc: ["--mode", "rpc", ...flags], tui: flags }
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } }
  return {
    name: "pi",
    prepare: ({ extensions, home, url }) => {
      const anthropic = wire === "anthropic"
      if (extensions !== undefined) ourExtensions.module(".pi/agent/extensions")(home, extensions.count)
      writeJson(join(home, ".pi/agent/settings.json"), { compaction: { enabled: false } })
      writeJson(join(home, ".pi/agent/models.json"), {
        providers: {
          bench: {
            baseUrl: anthropic ? url : `${url}/v1`,
            api: anthropic ? "anthropic-messages" : "openai-completions",
            apiKey: "x",
            models: [{ id: model, contextWindow: 100_000_000, maxTokens: 32_000 }]
          }
        }
      })
      return { PI_OFFLINE: "1", PI_TELEMETRY: "0" }
    },
    args: (mode, prompt, session) => [bin, ...(session === undefined ? [] : ["--session", session]), ...modes[mode], ...(prompt === undefined ? [] : [prompt])],
    delta: ({ assistantMessageEvent: event }) => event?.type === "text_delta" ? event.delta : undefined,
    isEnd: ({ type }) => type === "agent_end",
    writeSession: (home, workspace, { entries, sentences }) => {
      const lines = [{ type: "session", version: 3, id: "0199f0a0-0000-7000-8000-000000000000", timestamp: stamp, cwd: workspace }]
      const id = (n) => n.toString(16).padStart(8, "0")
      const add = (message) => {
        const n = lines.length
        lines.push({ type: "message", id: id(n), parentId: n === 1 ? null : id(n - 1), timestamp: stamp, message: { ...message, timestamp: 1_767_225_600_000 } })
      }
      const said = { role: "assistant", api: "anthropic-messages", provider: "bench", model, usage }
      for (let n = 0; n < entries; n += 4) {
        add({ role: "user", content: `${n}: ${sentence}` })
        add({ ...said, content: [{ type: "text", text: sentence }, { type: "toolCall", id: `call-${n}`, name: "read", arguments: { path: `f${n}.txt` } }], stopReason: "toolUse" })
        add({ role: "toolResult", toolCallId: `call-${n}`, toolName: "read", content: [{ type: "text", text: sentence.repeat(sentences) }], isError: false })
        add({ ...said, content: [{ type: "text", text: sentence }], stopReason: "stop" })
      }
      const file = join(home, "long.jsonl")
      writeLines(file, lines)
      return file
    }
  }
}
