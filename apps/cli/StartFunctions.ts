/**
 * Marks the functions that a run calls in what was built. V8 compiles a function when it is first called, and Node's cache keeps
 * only what was compiled with its file: each run would compile the same thousand functions anew, a fifth of its time. A function
 * in parentheses is compiled with its file, as one that is about to be called. Which ones those are is seen in runs of the program.
 */
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { parseAst } from "rolldown/parseAst"

/** From where to where a function goes in its file. */
export type Span = readonly [start: number, end: number]

const event = (type: string, fields: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
const answer = (block: object, delta: object, reason: string): string => [
  event("message_start", { message: { id: "m", type: "message", role: "assistant", model: "m", content: [], stop_reason: null, usage: { input_tokens: 1, output_tokens: 1 } } }),
  event("content_block_start", { index: 0, content_block: block }),
  event("content_block_delta", { index: 0, delta }),
  event("content_block_stop", { index: 0 }),
  event("message_delta", { delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 1 } }),
  event("message_stop", {})
].join("")
const call = answer({ type: "tool_use", id: "t", name: "read", input: {} }, { type: "input_json_delta", partial_json: `{"path":"a.txt"}` }, "tool_use")
const words = answer({ type: "text", text: "" }, { type: "text_delta", text: "Done." }, "end_turn")

/** A model that reads a file in each turn and then says that it is done. */
const startModel = async () => {
  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (text: string) => body += text).on("end", () => {
      const { messages } = JSON.parse(body) as { readonly messages: ReadonlyArray<{ readonly content: unknown }> }
      response.writeHead(200, { "content-type": "text/event-stream" }).end(JSON.stringify(messages.at(-1)).includes("tool_result") ? words : call)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`, close: () => server.close() }
}

const prompt = `${JSON.stringify({ id: "1", type: "get_state" })}\n${JSON.stringify({ id: "2", type: "prompt", message: "go" })}\n`
/** What is run: the ways of a program that other programs start, with an extension of each kind. */
const runs: ReadonlyArray<readonly [args: ReadonlyArray<string>, stdin: string]> = [
  [["-p", "go"], ""],
  [["--mode", "json", "--resume", "go"], ""],
  [["--mode", "rpc"], prompt]
]
const files = {
  "work/a.txt": "some text\n",
  "home/.nimlet/config.json": "{}",
  "home/.nimlet/extensions/program/extension.json": JSON.stringify({ name: "program", command: ["node", "./program.mjs"] }),
  "work/program.mjs": `import { createInterface } from "node:readline"
const send = (message) => console.log(JSON.stringify(message))
send({ type: "register", commands: [], events: ["tool_call", "tool_result"] })
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, type } = JSON.parse(line)
  if (type === "event") send({ type: "response", id })
}).on("close", () => process.exit())
`,
  "home/.pi/agent/extensions/module.mjs": "export default (pi) => { pi.on('tool_call', () => {}) }\n"
}

const run = (program: string, args: ReadonlyArray<string>, stdin: string, cwd: string, env: NodeJS.ProcessEnv): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], { cwd, env, stdio: ["pipe", "pipe", "pipe"], timeout: 60_000 })
    let told = ""
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => told += text)
    child.stdin.end(stdin)
    child.on("error", reject).on("close", (code) => code === 0 ? resolve() : reject(new Error(`what was built does not run: nimlet ${args.join(" ")} ended with ${code}\n${told}`)))
  })

interface Coverage {
  readonly result: ReadonlyArray<{
    readonly url: string
    readonly functions: ReadonlyArray<{ readonly ranges: ReadonlyArray<{ readonly startOffset: number; readonly endOffset: number; readonly count: number }> }>
  }>
}

/** The functions that were called in the runs, by the file of `folder` that they are in. */
const calledIn = async (folder: string, program: string): Promise<ReadonlyMap<string, ReadonlyArray<Span>>> => {
  const place = mkdtempSync(join(tmpdir(), "nimlet-build-"))
  const model = await startModel()
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(place, path)), { recursive: true })
      writeFileSync(join(place, path), text)
    }
    const coverage = join(place, "coverage")
    const env = {
      PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`, HOME: join(place, "home"), NODE_V8_COVERAGE: coverage, NODE_DISABLE_COMPILE_CACHE: "1",
      ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "none"
    }
    for (const [args, stdin] of runs) await run(join(folder, program), ["--provider", "anthropic", "--model", "m", ...args], stdin, join(place, "work"), env)
    const found = new Map<string, Array<Span>>()
    for (const name of readdirSync(coverage)) {
      const { result } = JSON.parse(readFileSync(join(coverage, name), "utf8")) as Coverage
      for (const { functions, url } of result.filter(({ url }) => url.startsWith(pathToFileURL(`${folder}/`).href))) {
        const spans = functions.flatMap(({ ranges: [whole] }) => whole !== undefined && whole.count > 0 ? [[whole.startOffset, whole.endOffset] as const] : [])
        found.set(fileURLToPath(url), [...found.get(fileURLToPath(url)) ?? [], ...spans])
      }
    }
    return found
  } finally {
    model.close()
    rmSync(place, { recursive: true, force: true })
  }
}

type Node = { readonly type: string; readonly start: number; readonly end: number; readonly [field: string]: unknown }
const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value && "start" in value

/** Where the functions stand that are expressions of their own: methods and declarations cannot be put in parentheses. */
const expressionsIn = function*(node: Node, inMethod = false): Generator<Span> {
  if (node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression" && !inMethod) yield [node.start, node.end]
  const method = node.type === "MethodDefinition" || node.type === "Property" && (node["method"] === true || node["kind"] !== "init")
  for (const [field, value] of Object.entries(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) yield* expressionsIn(child, method && field === "value")
  }
}

/** The text of a module with the functions in parentheses that `called` has. Pure. */
export const inParentheses = (text: string, called: ReadonlyArray<Span>): string => {
  const known = new Set(called.map(([start, end]) => `${start} ${end}`))
  const program: unknown = parseAst(text)
  const marks = (isNode(program) ? [...expressionsIn(program)] : []).filter(([start, end]) => known.has(`${start} ${end}`))
    .flatMap(([start, end]) => [[start, "("], [end, ")"]] as const)
    .sort(([one, a], [two, b]) => one - two || (a === b ? 0 : a === ")" ? -1 : 1))
  return marks.map(([at, mark], index) => text.slice(marks[index - 1]?.[0] ?? 0, at) + mark).join("") + text.slice(marks.at(-1)?.[0] ?? 0)
}

/** Runs `program`, a file of `folder`, and marks in all files of `folder` what was called. Throws when it does not run. */
export const markStartFunctions = async (folder: string, program: string): Promise<void> => {
  for (const [file, called] of await calledIn(folder, program)) writeFileSync(file, inParentheses(readFileSync(file, "utf8"), called))
}
