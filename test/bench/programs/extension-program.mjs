/**
 * The extension that is measured: it answers every event and call at once and does nothing else, with as little between the
 * pipe and the answer as there can be in Node.
 *
 *     node extension-program.mjs [--after MS] [--events NAME,NAME] [--tool NAME]
 *
 * Its tool answers; with `{"updates": N}` it first writes N status updates, with `{"bytes": N}` one line of that size, with
 * `{"kind": NAME, "lines": N}` N lines of a kind that nobody waits for.
 */
import { parseArgs } from "node:util"

const { values } = parseArgs({ options: { after: { type: "string" }, events: { type: "string" }, tool: { type: "string" } } })
const put = (text) => process.stdout.write(text)
const drained = () => new Promise((resolve) => process.stdout.once("drain", resolve))

const kinds = {
  notification: (n) => `{"type":"update","notification":{"level":"info","message":"number ${n}"}}\n`,
  entry: (n) => `{"type":"update","entry":{"number":${n}}}\n`,
  user_message: (n) => `{"type":"update","user_message":{"content":"number ${n}","deliver_as":"follow_up"}}\n`,
  noise: (n) => `[debug] number ${n}\n`,
  ui_request: (n) => `{"type":"ui_request","id":"q${n}","method":"confirm","prompt":"number ${n}"}\n`,
  unknown: (n) => `{"type":"number","n":${n}}\n`,
  late: (n) => `{"type":"response","id":"late ${n}"}\n`
}

const pour = async (id, { bytes = 0, kind, lines = 0, updates = 0 }) => {
  for (let n = 0; n < lines; n++) if (!put(kinds[kind](n))) await drained()
  for (let left = updates; left > 0; left--) {
    if (!put(`{"type":"update","status":{"key":"k","text":"${left} to go"},"widget":{"key":"w","lines":["${left}","to go"]}}\n`)) await drained()
  }
  const block = "x".repeat(1 << 20)
  for (let left = bytes; left > 0; left -= block.length) if (!put(block.slice(0, left))) await drained()
  put(`${bytes > 0 ? "\n" : ""}{"type":"response","id":"${id}","content":"poured"}\n`)
}

const register = () =>
  put(`${JSON.stringify({
    type: "register",
    commands: [],
    events: values.events?.split(",") ?? [],
    tools: values.tool === undefined ? [] : [{ name: values.tool, description: "Answers.", input_schema: { type: "object" } }]
  })}\n`)
if (values.after === undefined) register()
else setTimeout(register, Number(values.after))

let rest = ""
process.stdin.setEncoding("utf8")
process.stdin.on("data", (text) => {
  const lines = (rest + text).split("\n")
  rest = lines.pop()
  for (const line of lines) {
    const { arguments: args, id, type } = JSON.parse(line)
    if (type === "shutdown") process.exit(0)
    if (type === "tool" && (args.bytes > 0 || args.lines > 0 || args.updates > 0)) void pour(id, args)
    else if (type === "tool" || type === "event") put(`{"type":"response","id":"${id}"}\n`)
  }
})
process.stdin.on("end", () => process.exit(0))
