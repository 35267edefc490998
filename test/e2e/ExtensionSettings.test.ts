/** What a person says of extensions, in `config.json` and on the command line, and what a run makes of it. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { startModelStub } from "../kit/ModelStub.ts"
import { checkRecords } from "@nimlet/protocol"
import { makeWorkspace, records, type Workspace } from "../kit/Workspace.ts"

const json = ["--mode", "json", "--provider", "offline"]
const config = (space: Workspace, content: object | string) =>
  space.file("~/.nimlet/config.json", typeof content === "string" ? content : JSON.stringify(content))

/** An extension whose one tool says which variables of a list it can see. */
const seeing = `#!/usr/bin/env node
import { createInterface } from "node:readline"
const send = (message) => console.log(JSON.stringify(message))
send({ type: "register", commands: [], tools: [{ name: "seen", description: "Tells.", input_schema: { type: "object" } }] })
for await (const line of createInterface({ input: process.stdin })) {
  const { type, id } = JSON.parse(line)
  if (type === "tool") send({ type: "response", id, content: "sees " + ["OPENAI_API_KEY", "OPENROUTER_API_KEY"].filter((name) => process.env[name]).join() + "." })
}
`
const put = (space: Workspace, name: string, source = seeing, more: object = {}) =>
  space.extension(name, { manifest: { name, command: ["./x.mjs"], ...more }, files: { "x.mjs": source } })

describe("settings of an extension", () => {
  it("switch it off", async () => {
    await using space = await makeWorkspace()
    await put(space, "spy")
    expect((await space.nimlet(["call seen {}"])).stdout).toContain("sees .")
    await config(space, { extensions: { spy: { disabled: true } } })
    const run = await space.nimlet(["call seen {}"])
    expect(run.stdout).not.toContain("sees .")
    expect(run.stderr).not.toContain("warning")
  })

  it("switch its family off", async () => {
    await using space = await makeWorkspace()
    await put(space, "spy")
    await config(space, { extensions: { families: { nimlet: false } } })
    expect((await space.nimlet(["call seen {}"])).stdout).not.toContain("sees .")
    // By path it is started all the same.
    expect((await space.nimlet(["-e", join(space.home, ".nimlet/extensions/spy"), "call seen {}"])).stdout).toContain("sees .")
  })

  it("win over its manifest", async () => {
    await using space = await makeWorkspace()
    await put(space, "spy", seeing, { env: ["OPENAI_API_KEY"] })
    const env = { OPENAI_API_KEY: "k", OPENROUTER_API_KEY: "k" }
    expect((await space.nimlet([...json, "call seen {}"], { env })).stdout).toContain("sees OPENAI_API_KEY.")
    await config(space, { extensions: { spy: { env: ["OPENROUTER_API_KEY"] } } })
    expect((await space.nimlet([...json, "call seen {}"], { env })).stdout).toContain("sees OPENROUTER_API_KEY.")
    await put(space, "slow", "#!/usr/bin/env node\nsetInterval(() => {}, 1000)\n")
    await config(space, { extensions: { slow: { response_timeout_seconds: 1 } } })
    const run = await space.nimlet([...json, "list the files"])
    expect(run.stdout).toContain("'slow' failed to start")
    expect(run.durationMs).toBeLessThan(15_000)
  })

  it.each([
    [{ extensions: { guard: { on_failure: "blok" } } }, ["extensions.guard.on_failure", `"open"`, `"blok"`]],
    [{ extensions: { guard: { on_failur: "block" } } }, ["extensions.guard.on_failur", "on_failure"]],
    [{ extensions: { required: "guard" } }, ["extensions.required", "array"]],
    [{ extensions: { families: { nimble: false } } }, ["extensions.families.nimble", "niminal"]]
  ])("that are wrong keep the run from starting: %j", async (content, words) => {
    await using space = await makeWorkspace()
    const file = await config(space, content)
    const run = await space.nimlet([...json, "run `touch ran`"])
    expect([run.code, run.stdout]).toEqual([1, ""])
    for (const word of [file, ...words, "mend the file"]) expect(run.stderr).toContain(word)
    expect(existsSync(join(space.work, "ran"))).toBe(false)
    expect(readFileSync(file, "utf8")).toBe(JSON.stringify(content))
    expect((await space.nimlet(["extension", "list"])).stderr).toContain(words[0])
  })
})

describe("a required extension", () => {
  const dead = "#!/usr/bin/env node\nprocess.exit(3)\n"
  it.each([
    ["settings", { extensions: { required: ["guard"] } }, []],
    ["the command line", {}, ["--require-extension", "guard"]]
  ] as const)("that does not run keeps everything else from running (%s)", async (_, content, flags) => {
    await using space = await makeWorkspace()
    await config(space, content)
    const attempt = async (why: string) => {
      const run = await space.nimlet([...flags, ...json, "run `touch ran`"])
      expect(run.code).toBe(1)
      expect(run.stderr).toMatch(new RegExp(`could not start: required extension 'guard' .*${why}`))
      expect(checkRecords(records(run.stdout))).toEqual([])
      expect(records(run.stdout).map(({ type }) => type)).not.toContain("run_start")
      expect(records(run.stdout).at(-1)).toMatchObject({ type: "session_end", success: false })
      expect(existsSync(join(space.work, "ran"))).toBe(false)
    }
    await attempt("found")
    await put(space, "guard", dead)
    await attempt("code 3")
    await put(space, "guard")
    expect((await space.nimlet([...flags, ...json, "run `touch ran`"])).code).toBe(0)
    expect(existsSync(join(space.work, "ran"))).toBe(true)
  })
})

describe("a provider that an extension offers", () => {
  const offering = (url: string, more: object = {}) => {
    const provider = { name: "acme", api: "openai-chat-completions", api_url: url, default_model: "big", models: ["big", "small"], api_key_env: ["ACME_KEY"], requires_api_key: true, ...more }
    return `#!/usr/bin/env node
console.log(${JSON.stringify(JSON.stringify({ type: "register", commands: [], providers: [provider] }))})
process.stdin.on("data", () => {}).on("end", () => process.exit())
`
  }

  it("answers when it is named, with its default model or one of its others, and in a resumed session", async () => {
    await using space = await makeWorkspace()
    await using stub = await startModelStub([{ text: "One." }, { text: "Two." }, { text: "Three." }])
    await put(space, "seller", offering(`${stub.url}/v1`))
    const env = { ACME_KEY: "k" }
    const first = await space.nimlet(["-p", "--provider", "acme", "hello"], { env })
    expect([first.stdout, first.code]).toEqual(["One.\n", 0])
    expect((await space.nimlet(["-p", "--provider", "acme", "--model", "small", "hello"], { env })).stdout).toBe("Two.\n")
    expect((await space.nimlet(["-p", "--resume", "hello"], { env })).stdout).toBe("Three.\n")
    expect(stub.requests.map(({ body, headers }) => [body!["model"], headers["authorization"]])).toEqual([
      ["big", "Bearer k"], ["small", "Bearer k"], ["small", "Bearer k"]
    ])
  })

  it("must have its key, is not sent that of another provider, and does not hide the wrong name", async () => {
    await using space = await makeWorkspace()
    await put(space, "seller", offering("http://127.0.0.1:1/v1", { api_key_env: ["OPENAI_API_KEY"] }))
    const run = await space.nimlet(["-p", "--provider", "acme", "hello"], { env: { OPENAI_API_KEY: "k" } })
    expect(run.code).toBe(1)
    expect(run.stderr).toContain("is not sent OPENAI_API_KEY")
    expect(run.stderr).toContain("could not start: no API key for acme")
    const wrong = await space.nimlet(["-p", "--provider", "amce", "hello"])
    expect(wrong.code).toBe(1)
    expect(wrong.stderr).toMatch(/unknown provider 'amce'.*acme/)
    expect((await space.nimlet(["-p", "--no-extensions", "--provider", "acme", "hello"])).stderr).toContain("unknown provider 'acme'")
  })
})
