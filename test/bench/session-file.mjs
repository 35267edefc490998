/** Long session files: user, call, result and answer in turn. */
import { closeSync, openSync, writeSync } from "node:fs"

const at = "2026-01-01T00:00:00.000Z"
const words = "the quick brown fox jumps over the lazy dog, naïve as ever; "

/** So many characters of words. */
export const text = (length) => words.repeat(Math.ceil(length / words.length)).slice(0, length)

/** The header of such a session. */
export const headerOf = (id, workspace) => ({ type: "session", version: 1, id, workspace, at })

/** Entry `n`; a tool's result has `bytes` of text, the first one `longLine` where that is given. */
export const entryOf = (n, { bytes, longLine = 0 }) => {
  const stamp = { entry_id: n.toString(16).padStart(8, "0"), at }
  if (n % 4 === 0) return { type: "user", role: "user", content: [{ type: "text", text: `${n}: ${text(200)}` }], ...stamp }
  if (n % 4 === 2) return { type: "tool_result", id: `call-${n - 1}`, output: text(n === 2 && longLine > 0 ? longLine : bytes), is_error: false, tool: "read", ...stamp }
  const answer = { type: "assistant", role: "assistant", provider: "anthropic", model: "m", ...stamp }
  return n % 4 === 3
    ? { ...answer, content: [{ type: "text", text: text(300) }] }
    : {
      ...answer,
      content: [{ type: "text", text: "I shall read it." }, { type: "tool_use", id: `call-${n}`, name: "read", input: { path: `f${n}.txt` } }],
      usage: { input_tokens: 1000, output_tokens: 50 }
    }
}

/** Writes values as JSON lines, some hundred at once. */
export const writeLines = (path, values) => {
  const file = openSync(path, "w")
  let pieces = []
  const flush = () => {
    writeSync(file, pieces.join(""))
    pieces = []
  }
  for (const value of values) {
    pieces.push(`${JSON.stringify(value)}\n`)
    if (pieces.length === 500) flush()
  }
  flush()
  closeSync(file)
}

/** The lines of a session of so many entries. */
export const linesOf = function*(id, { entries, workspace = "/work", ...shape }) {
  yield headerOf(id, workspace)
  for (let n = 0; n < entries; n++) yield entryOf(n, shape)
}
