import { chmodSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { lastingSurvivors, makeWorkspace, type Workspace } from "../kit/Workspace.ts"

const examined = async (space: Workspace, flags: ReadonlyArray<string> = [], env: Record<string, string> = {}) => {
  const run = await space.nimlet(["doctor", "--json", ...flags], { env })
  expect(run.stderr).toBe("")
  return { code: run.code, text: run.stdout, report: JSON.parse(run.stdout) as { readonly [key: string]: any } }
}
const levels = (report: { readonly [key: string]: any }): ReadonlyArray<string> => report["findings"].map(({ level }: { level: string }) => level)
const extension = { manifest: { name: "one", command: ["./x.mjs"] }, files: { "x.mjs": "#!/usr/bin/env node\nconsole.log(JSON.stringify({ type: 'register', commands: [] }))\nprocess.stdin.on('data', () => {}).on('end', () => process.exit())\n" } }

describe("nimlet doctor", () => {
  it("finds nothing wrong where nothing is, starts and writes nothing", async () => {
    await using space = await makeWorkspace()
    await space.extension("one", extension)
    const before = readdirSync(space.home, { recursive: true })
    const { code, report } = await examined(space, [], { ANTHROPIC_API_KEY: "sk-secret", ANTHROPIC_BASE_URL: "http://127.0.0.1:1" })
    expect([code, report["ok"], report["findings"]]).toEqual([0, true, []])
    expect(report).toMatchObject({
      workspace: space.work,
      model: { provider: "anthropic", endpoint: "http://127.0.0.1:1/v1", key_from: "ANTHROPIC_API_KEY" },
      extensions: [{ key: "one", folder: join(space.home, ".nimlet/extensions/one") }],
      started: null,
      terminal: { input: false, output: false }
    })
    expect(report["roots"]).toHaveLength(10)
    expect(JSON.stringify(report)).not.toContain("sk-secret")
    expect(readdirSync(space.home, { recursive: true })).toEqual(before)
    expect(readdirSync(space.work)).toEqual([])
  })

  it("tells a person the same in words, and what to do", async () => {
    await using space = await makeWorkspace()
    const run = await space.nimlet(["doctor"], { env: { OPENAI_API_KEY: "sk-secret" } })
    expect(run.code).toBe(0)
    for (const word of ["openai", "key from OPENAI_API_KEY", "~/.nimlet/config.json (not there)", "~/.nimlet/extensions: not there", "All is well."]) expect(run.stdout).toContain(word)
    expect(run.stdout).not.toContain("sk-secret")
    const offline = await space.nimlet(["doctor"])
    expect(offline.code).toBe(0)
    expect(offline.stdout).toMatch(/warning .*offline model.*\n.*ANTHROPIC_API_KEY/)
  })

  it("says what is broken, with the remedy, and exits 1", async () => {
    await using space = await makeWorkspace()
    const file = await space.file("~/.nimlet/config.json", `{"agent": {"max_tokens": "many"}}`)
    const settings = await examined(space)
    expect([settings.code, settings.report["settings"].problems]).toEqual([1, [`agent.max_tokens: expected number, not "many"`]])
    expect(readFileSync(file, "utf8")).toBe(`{"agent": {"max_tokens": "many"}}`)
    await space.file("~/.nimlet/config.json", `{"default_provider": "acme", "skin": "dark", "extensions": {"required": ["guard"]}}`)
    await space.extension("bad", { manifest: "{", files: {} })
    await space.file("~/.nimlet/auth.json", "{}")
    chmodSync(join(space.home, ".nimlet/auth.json"), 0o644)
    const { code, report } = await examined(space)
    expect(code).toBe(1)
    expect(report["settings"]).toMatchObject({ ignored: ["skin"], problems: [] })
    expect(report["settings"].in_force).toContainEqual({ key: "default_provider", value: `"acme"` })
    expect(report["model"].problem).toContain("unknown provider 'acme'")
    expect(levels(report)).toEqual(["error", "error", "error", "warning", "warning"])
    for (const { remedy } of report["findings"]) expect(remedy).not.toBe("")
  })

  // What a run says of files that are wrong, at its start, and what doctor does.
  it("and a run tell of keys that mean nothing, of a catalogue that is none and of an interface nobody speaks, with file and remedy", async () => {
    await using space = await makeWorkspace()
    const env = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "http://127.0.0.1:1" }
    await space.file("~/.nimlet/config.json", `{"agnet": {}, "agent": {"max_step": 1}}`)
    await space.file("~/.nimlet/models.json", "{ half")
    const run = await space.nimlet(["-p", "go"], { env })
    for (const told of [/config\.json: agnet is ignored.*agent is meant/, /config\.json: agent\.max_step is ignored.*agent\.max_steps is meant/, /models\.json: is not valid JSON.*nimlet models refresh/]) expect(run.stderr).toMatch(told)
    const { code, report } = await examined(space, [], env)
    expect([code, levels(report)]).toEqual([0, ["warning", "warning", "warning"]])
    expect(report["findings"].map(({ what }: { what: string }) => what).join()).toMatch(/agnet.*agent\.max_step.*models\.json: is not valid JSON/)
    await space.file("~/.nimlet/config.json", `{"providers": {"mine": {"endpoint": "http://127.0.0.1:1/v1", "api": "opanai"}}}`)
    const refused = await space.nimlet(["--mode", "json", "--provider", "offline", "go"])
    expect(refused.code).toBe(1)
    expect(refused.stdout + refused.stderr).toMatch(/config\.json: providers\.mine\.api: .*openai-chat/)
    expect((await examined(space)).report["settings"].problems[0]).toMatch(/^providers\.mine\.api: /)
  })

  it("looks at the settings of the project, too, trusted or not", async () => {
    await using space = await makeWorkspace()
    const env = { ANTHROPIC_API_KEY: "k" }
    const whats = (report: { readonly [key: string]: any }) => report["findings"].map(({ level, what }: { level: string; what: string }) => `${level} ${what}`).join("\n")
    await space.file(".nimlet/config.json", `{"theme": "light", "agnet": 1, "agent": {"session_dir": "x"}}`)
    const left = await examined(space, [], env)
    expect(left.report["project_settings"]).toMatchObject({ path: join(space.work, ".nimlet/config.json"), in_force: false, ignored: ["agnet"], problems: [] })
    expect(whats(left.report)).toMatch(/note .*not in force: this project is not trusted/)
    expect(left.report["settings"].in_force).toEqual([])
    const trusted = await examined(space, ["--approve"], env)
    expect([trusted.code, trusted.report["project_settings"].in_force]).toEqual([0, true])
    expect(trusted.report["settings"].in_force).toEqual([{ key: "theme", value: `"light"` }])
    expect(whats(trusted.report)).toMatch(/warning .*agnet[^]*note .*agent\.session_dir is ignored; a project may not set it/)
    await space.file(".nimlet/config.json", "{ half")
    expect((await examined(space, [], env)).report["ok"]).toBe(true)
    const broken = await examined(space, ["--approve"], env)
    expect([broken.code, broken.report["project_settings"].in_force]).toEqual([1, false])
    expect(whats(broken.report)).toMatch(/error .*\.nimlet\/config\.json: is not valid JSON/)
  })

  it("starts extensions only when it is asked to, and stops them", async () => {
    await using space = await makeWorkspace()
    await space.extension("one", extension)
    await space.extension("dead", { manifest: { name: "dead", command: ["./x.mjs"] }, files: { "x.mjs": "#!/usr/bin/env node\nprocess.exit(3)\n" } })
    expect((await examined(space)).code).toBe(0)
    const { code, report } = await examined(space, ["--start"])
    expect(code).toBe(1)
    expect(report["started"].extensions.map(({ key, state }: { key: string; state: string }) => [key, state])).toEqual([["dead", "stopped"], ["one", "running"]])
    expect(report["findings"][0].what).toContain("code 3")
    expect(await lastingSurvivors(space.root)).toEqual([])
  })
})
