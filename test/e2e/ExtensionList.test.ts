/** `nimlet extension list`: what a run would start, what it offers, what was left out and why. */
import { existsSync, readFileSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { lastingSurvivors, makeWorkspace, type Workspace } from "../kit/Workspace.ts"

/** An extension in one file that registers `offer` and leaves when its input ends. */
const offering = (offer: object) => `#!/usr/bin/env node
import { appendFileSync } from "node:fs"
console.log(JSON.stringify(${JSON.stringify({ type: "register", commands: [], ...offer })}))
process.stdin.on("data", (data) => appendFileSync("heard.jsonl", data)).on("end", () => process.exit())
`
const tool = (name: string, capabilities = ["read"]) => ({ name, description: `${name}.`, input_schema: { type: "object" }, capabilities })
const put = (space: Workspace, name: string, offer: object, { root = "~/.nimlet/extensions", ...manifest }: { readonly root?: string; readonly [key: string]: unknown } = {}) =>
  space.extension(name, { root, manifest: { name, command: ["./x.mjs"], ...manifest }, files: { "x.mjs": offering(offer) } })

interface Listed {
  readonly ok: boolean
  readonly extensions: ReadonlyArray<{ readonly [key: string]: any }>
  readonly skipped: ReadonlyArray<{ readonly [key: string]: any }>
  readonly missing: ReadonlyArray<object>
  readonly warnings: ReadonlyArray<string>
}
const listed = async (space: Workspace, ...flags: ReadonlyArray<string>): Promise<{ readonly code: number | null; readonly report: Listed }> => {
  const run = await space.nimlet(["extension", "list", "--json", ...flags])
  expect(run.stderr).toBe("")
  return { code: run.code, report: JSON.parse(run.stdout) as Listed }
}

describe("nimlet extension list", () => {
  it("says of each extension where it is from and what it offers, and leaves none running", async () => {
    await using space = await makeWorkspace()
    const provider = { name: "acme", api: "openai-chat-completions", api_url: "http://127.0.0.1:1", default_model: "big", models: [], requires_api_key: false }
    const mode = { id: "calm", label: "Calm", prompt: "Be calm.", permissions: "ask", tools: ["read"] }
    const folder = await put(space, "all", {
      tools: [tool("look", ["read", "user"])], commands: [{ name: "Look", description: "Looks." }], events: ["turn_end"], modes: [mode], providers: [provider]
    })
    const one = await put(space, "one", {}, { root: ".niminal/extensions" })
    const { code, report } = await listed(space, "--approve")
    expect(code).toBe(0)
    expect(report.ok).toBe(true)
    expect(report.extensions).toMatchObject([
      {
        key: "all", name: "all", family: "nimlet", root: join(space.home, ".nimlet/extensions"), folder, project: false, command: ["./x.mjs"], state: "running", fault: null,
        tools: [{ name: "look", description: "look.", capabilities: ["read", "user"] }],
        commands: [{ name: "Look", description: "Looks.", while_busy: false }],
        events: [{ name: "turn_end" }],
        modes: [{ id: "calm", label: "Calm" }],
        providers: [{ name: "acme", default_model: "big" }]
      },
      { key: "one", family: "niminal", root: join(space.work, ".niminal/extensions"), folder: one, project: true }
    ])
    expect(report.extensions[0]!["start_ms"]).toBeGreaterThan(0)
    expect([report.skipped, report.missing, report.warnings]).toEqual([[], [], []])
    expect(await lastingSurvivors(space.root)).toEqual([])
    // It hears of no session: there is none.
    const heard = readFileSync(join(space.work, "heard.jsonl"), "utf8").trimEnd().split("\n").map((line) => (JSON.parse(line) as { type: string }).type)
    expect(new Set(heard)).toEqual(new Set(["initialize", "shutdown"]))
  })

  it("tells a person the same in words", async () => {
    await using space = await makeWorkspace()
    await put(space, "all", { tools: [tool("look")], commands: [{ name: "Look" }], events: ["turn_end", "turn_endd"] })
    const run = await space.nimlet(["extension", "list"])
    expect([run.code, run.stderr]).toEqual([0, ""])
    expect(run.stdout).toMatch(/^all: running, started in \d+ ms$/m)
    for (const row of ["~/.nimlet/extensions/all (nimlet)", "look (read)", "/Look", "turn_end", "turn_endd never fires", "1 of 1 run."]) expect(run.stdout).toContain(row)
    expect((await (await makeWorkspace()).nimlet(["extension", "list"])).stdout).toContain("No extensions.")
  })

  it("says who wins where two offer the same, and what no extension may offer", async () => {
    await using space = await makeWorkspace()
    const same = { tools: [tool("look"), tool("bash")], commands: [{ name: "go" }], events: ["no_such_event"] }
    await put(space, "a", same)
    await put(space, "b", same)
    const { code, report } = await listed(space)
    const [a, b] = report.extensions
    expect(code).toBe(0)
    expect(a!["tools"][0]).toMatchObject({ name: "look", overridden_by: "b" })
    expect(b!["tools"][0]).not.toHaveProperty("overridden_by")
    expect(b!["commands"][0]).toMatchObject({ name: "go", overridden_by: "a" })
    for (const one of [a, b]) {
      expect(one!["tools"][1].left_out).toContain("built-in")
      expect(one!["events"]).toEqual([{ name: "no_such_event", never_fires: true }])
    }
  })

  it("gives the second of a name a key of its own, and starts one folder once however it is reached", async () => {
    await using space = await makeWorkspace()
    const first = await put(space, "twin", {})
    const second = await put(space, "other", {}, { name: "twin" })
    symlinkSync(first, join(space.home, ".nimlet/extensions/zlink"))
    const { report } = await listed(space, "-e", first)
    expect(report.extensions.map(({ folder, key, name }) => [key, name, folder])).toEqual([["twin", "twin", second], ["twin#2", "twin", first]])
  })

  it("says of everything that was not started why not", async () => {
    await using space = await makeWorkspace()
    await put(space, "good", {})
    const off = await put(space, "off", {})
    const broken = await space.extension("broken", { manifest: `{"name": "broken"}`, files: {} })
    await put(space, "mine", {}, { root: ".nimlet/extensions" })
    await put(space, "old", {}, { root: "~/.niminal/extensions" })
    await space.file("~/.nimlet/config.json", JSON.stringify({ extensions: { families: { niminal: false }, off: { disabled: true } } }))
    const { code, report } = await listed(space)
    expect(code).toBe(1)
    expect(report.extensions.map(({ key }) => key)).toEqual(["good"])
    expect(report.skipped).toEqual([
      { what: "manifest", path: broken, why: expect.stringContaining("command") },
      { what: "disabled", path: off, name: "off", why: expect.stringContaining("extensions.off.disabled") },
      { what: "root", path: join(space.home, ".niminal/extensions"), count: 1, why: expect.stringContaining("extensions.families.niminal") },
      { what: "root", path: join(space.work, ".nimlet/extensions"), count: 1, why: expect.stringContaining("--approve") }
    ])
    const none = await listed(space, "--no-extensions")
    expect([none.code, none.report.extensions, none.report.skipped.map(({ count, why }) => [count, why])]).toEqual([
      0, [], [[3, "--no-extensions"], [1, "--no-extensions"], [1, "--no-extensions"]]
    ])
  })

  it("a run that names an extension by a path with none at it ends before anything runs, naming path and reason", async () => {
    await using space = await makeWorkspace()
    await space.file("empty/notes.txt", "")
    for (const [path, why] of [["./nothing", "no such file"], ["empty", "no extension.json"], ["empty/notes.txt", "no extension"]] as const) {
      const run = await space.nimlet(["--provider", "offline", "-e", path, "run: echo ran > mark.txt"])
      expect(run.code).toBe(2)
      expect(run.stderr).toContain(`-e ${join(space.work, path)}: `)
      expect(run.stderr).toContain(why)
      expect(existsSync(join(space.work, "mark.txt"))).toBe(false)
    }
  })

  it("says why one does not run, and exits 1", async () => {
    await using space = await makeWorkspace()
    await put(space, "good", {})
    await put(space, "dead", {}, { command: ["./nothing-there"] })
    await put(space, "wrong", { tools: [{ name: "x" }] })
    const { code, report } = await listed(space, "--require-extension", "dead", "-e", join(space.root, "nowhere"))
    expect(code).toBe(1)
    expect(report.extensions.map(({ key, state }) => [key, state])).toEqual([["dead", "stopped"], ["good", "running"], ["wrong", "stopped"]])
    expect(report.extensions[0]!["fault"]).toBeTruthy()
    expect(report.extensions[2]!["fault"]).toContain("registered tools require")
    expect(report.skipped).toEqual([{ what: "manifest", path: join(space.root, "nowhere"), why: expect.any(String) }])
    expect(report.missing).toMatchObject([{ extension: "dead" }])
    expect(report.warnings).toEqual(["description must be a text that is not empty", "input_schema must be an object"].map((fault) => `extension 'wrong': tool "x": ${fault}`))
    const text = await space.nimlet(["extension", "list"])
    expect(text.code).toBe(1)
    expect(text.stdout).toContain("2 could not start")
  })

  it("is a prompt when more words follow", async () => {
    await using space = await makeWorkspace()
    const run = await space.nimlet(["extension", "list", "what", "is", "this"])
    expect(run.stdout).toContain("offline")
    expect(run.stdout).not.toContain("No extensions.")
  })

  it("tells its flags, and teaches a shell", async () => {
    await using space = await makeWorkspace()
    const help = await space.nimlet(["extension", "list", "--help"])
    expect([help.code, help.stderr]).toEqual([0, ""])
    for (const word of ["nimlet extension list", "--json", "--require-extension", "-e"]) expect(help.stdout).toContain(word)
    const bash = await space.nimlet(["--completions", "bash"])
    expect(bash.code).toBe(0)
    for (const word of ["nimlet", "extension", "doctor", "--no-extensions"]) expect(bash.stdout).toContain(word)
  })
})
