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
