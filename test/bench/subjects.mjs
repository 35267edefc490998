/** Who is measured, and how each one is told its prompt, its model and where that answers. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, realpathSync, statSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"

const root = resolve(import.meta.dirname, "../..")
const model = "bench-model"

const writeJson = (path, value) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, JSON.stringify(value, null, 2))
}

/** A JSON-mode record of ours as the text it brings, or undefined. */
const ourDelta = (record) => record.type === "message_delta" ? record.delta : undefined

/**
 * A subject: `prepare({home, url, wire})` writes what it has to find and returns its environment, `text` and `json` are
 * the arguments after `node` in either mode, `delta` tells the text that a JSON record brings.
 */
export const floor = () => ({
  name: "floor",
  prepare: ({ url, wire }) => ({ BASE: url, API: wire }),
  text: (prompt) => [join(import.meta.dirname, "floor.mjs"), prompt],
  json: (prompt) => [join(import.meta.dirname, "floor.mjs"), "--json", prompt],
  delta: ourDelta
})

export const nimlet = ({ bin = process.env.NIMLET_BIN ?? join(root, "apps/cli/dist/nimlet.mjs"), wire }) => {
  if (!existsSync(bin)) return undefined
  const flags = ["--provider", wire === "anthropic" ? "anthropic" : "bench", "--model", model]
  return {
    name: "nimlet",
    prepare: ({ home, url }) => {
      if (wire === "anthropic") return { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "x" }
      writeJson(join(home, ".nimlet/config.json"), { providers: { bench: { api: wire, endpoint: `${url}/v1`, api_key_env: "BENCH_KEY", models: [{ id: model }] } } })
      return { BENCH_KEY: "x" }
    },
    text: (prompt) => [bin, "-p", ...flags, prompt],
    json: (prompt) => [bin, "--mode", "json", ...flags, prompt],
    delta: ourDelta
  }
}

const piPackage = "@earendil-works/pi-coding-agent@1.6.0"

/** pi's program: in the folder or file given, or installed by npm into `.tools/peers/pi`. */
const piProgram = (path) => {
  if (typeof path === "string" && !existsSync(path)) throw new Error(`no pi at ${path}`)
  if (typeof path === "string" && statSync(path).isFile()) return realpathSync(path)
  const folder = typeof path === "string" ? path : join(root, ".tools/peers/pi")
  const program = join(folder, "node_modules/.bin/pi")
  if (!existsSync(program)) {
    process.stderr.write(`bench: installing ${piPackage} into ${folder}\n`)
    mkdirSync(folder, { recursive: true })
    writeJson(join(folder, "package.json"), { private: true })
    execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", piPackage], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] })
  }
  return realpathSync(program)
}

export const pi = ({ path, wire }) => {
  const bin = piProgram(path)
  const flags = ["--provider", "bench", "--model", model]
  return {
    name: "pi",
    prepare: ({ home, url }) => {
      const anthropic = wire === "anthropic"
      writeJson(join(home, ".pi/agent/models.json"), {
        providers: {
          bench: {
            baseUrl: anthropic ? url : `${url}/v1`,
            api: anthropic ? "anthropic-messages" : "openai-completions",
            apiKey: "x",
            models: [{ id: model, contextWindow: 1_000_000, maxTokens: 32_000 }]
          }
        }
      })
      return { PI_OFFLINE: "1", PI_TELEMETRY: "0" }
    },
    text: (prompt) => [bin, ...flags, "-p", prompt],
    json: (prompt) => [bin, ...flags, "--mode", "json", "-p", prompt],
    delta: ({ assistantMessageEvent: event }) => event?.type === "text_delta" ? event.delta : undefined
  }
}
