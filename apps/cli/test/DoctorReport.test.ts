import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { type DoctorFacts, DoctorReport, doctorReport } from "../src/report/DoctorReport.ts"
import { doctorText } from "../src/report/DoctorText.ts"
import { atHome } from "../src/report/ExtensionText.ts"
import { keysInForce } from "../src/SettingsKeys.ts"

const place = (path: string) => ({ path, exists: true })
/** A set-up with nothing wrong. */
const well: DoctorFacts = {
  version: "1.2.3",
  node: "24.0.0",
  platform: "linux",
  workspace: "/h/w",
  trusted: false,
  paths: { config: place("/h/.nimlet/config.json"), auth: place("/h/.nimlet/auth.json"), sessions: { ...place("/h/s"), writable: true }, logs: place("/h/l") },
  settings: { in_force: [], ignored: [], problems: [] },
  project_settings: null,
  slips: [],
  withheld: [],
  catalogFaults: [],
  resourceFaults: [],
  trustFaults: [],
  model: { provider: "anthropic", model: "m", endpoint: "https://x/v1", key_from: "ANTHROPIC_API_KEY", problem: null },
  roots: [],
  extensions: [],
  skipped: [],
  started: null,
  programs: [{ name: "rg", path: "/bin/rg", needed_for: "searching" }],
  terminal: { input: true, output: true, type: "xterm", colours: true, editor: "vi" },
  auth: { problem: undefined, exposed: false },
  modelRemedy: "name another",
  offlineByDefault: false,
  discoveryWarnings: [],
  required: [],
  named: [],
  names: []
}
const project = { path: "/h/w/.nimlet/config.json", in_force: false, ignored: [], problems: [] }
const level = (change: Partial<DoctorFacts>): ReadonlyArray<string> => doctorReport({ ...well, ...change }).findings.map((finding) => finding.level)

describe("doctor", () => {
  it("finds nothing in a set-up with nothing wrong, and says where the key is from", () => {
    const report = doctorReport(well)
    assert.deepStrictEqual([report.ok, report.findings], [true, []])
    assert.deepStrictEqual(JSON.parse(Schema.encodeSync(Schema.fromJsonString(DoctorReport))(report)), report)
    const text = doctorText(report, "/h")
    assert.include(text, "key from ANTHROPIC_API_KEY")
    assert.include(text, "~/.nimlet/config.json")
  })

  it.each<[string, Partial<DoctorFacts>, string]>([
    ["settings that cannot be read", { settings: { ...well.settings, problems: ["agent.max_tokens: expected number"] } }, "error"],
    ["a key nobody knows", { slips: [{ file: "/h/.nimlet/config.json", key: "agnet", meant: "agent" }] }, "warning"],
    ["settings of a trusted project that cannot be read", { trusted: true, project_settings: { ...project, problems: ["is not valid JSON"] } }, "error"],
    ["those of one that is not trusted", { project_settings: { ...project, problems: ["is not valid JSON"] } }, "warning"],
    ["settings of a project that are not in force", { project_settings: project }, "note"],
    ["a key that a project may not set", { withheld: ["/h/w/.nimlet/config.json: agent.session_dir is ignored; a project may not set it"] }, "note"],
    ["a trust.json that is not understood", { trustFaults: ["/h/.nimlet/trust.json is no regular file"] }, "warning"],
    ["a tool.json that is left out", { resourceFaults: ["skipping /h/.nimlet/tools/x: tool.json: name"] }, "warning"],
    ["a catalogue that cannot be used", { catalogFaults: ["/h/.nimlet/models.json: is not valid JSON"] }, "warning"],
    ["a model that cannot be had", { model: { ...well.model, provider: null, problem: "no API key for x" } }, "error"],
    ["an auth file that is broken", { auth: { problem: "auth.json: is no valid JSON", exposed: false } }, "error"],
    ["one that others may read", { auth: { problem: undefined, exposed: true } }, "warning"],
    ["no key at all", { offlineByDefault: true }, "warning"],
    ["a broken manifest", { skipped: [{ what: "manifest", path: "/x", why: "missing name" }] }, "error"],
    ["a disabled extension", { skipped: [{ what: "disabled", path: "/x", name: "x", why: "off" }] }, "note"],
    ["an untrusted project", { skipped: [{ what: "root", path: "/x", count: 1, why: "not trusted (--approve)" }] }, "note"],
    ["a required extension that is not there", { required: ["guard"] }, "error"],
    ["settings of an extension that is not there", { named: ["gaurd"], names: ["guard"] }, "warning"],
    ["sessions that cannot be written", { paths: { ...well.paths, sessions: { ...well.paths.sessions, writable: false } } }, "error"],
    ["a program that is missing", { programs: [{ name: "git", path: null, needed_for: "git" }] }, "warning"]
  ])("says what to do about %s", (_, change, expected) => {
    const report = doctorReport({ ...well, ...change })
    assert.deepStrictEqual(level(change), [expected])
    assert.notStrictEqual(report.findings[0]!.remedy, "")
    assert.strictEqual(report.ok, expected !== "error")
    assert.include(doctorText(report, "/h"), atHome(report.findings[0]!.remedy, "/h"))
  })

  it("tells a broken auth file once, though the model cannot be had for it", () => {
    const problem = "auth.json: is no valid JSON"
    assert.deepStrictEqual(level({ auth: { problem, exposed: false }, model: { ...well.model, provider: null, problem } }), ["error"])
  })

  it("tells the gravest first", () => {
    assert.deepStrictEqual(level({ offlineByDefault: true, skipped: [{ what: "disabled", path: "/x", why: "off" }], required: ["guard"] }), ["error", "warning", "note"])
  })
})

describe("keys of the settings", () => {
  const settings = {
    default_model: "m",
    providers: { mine: { endpoint: "http://x", options: { token: "secret" } } },
    extensions: { required: ["a"], named: { guard: { disabled: true } } }
  }
  it("are told as in the file, without what is sent to a provider unseen", () => {
    assert.deepStrictEqual(keysInForce(settings).map(({ key, value }) => `${key}=${value}`), [
      `default_model="m"`, `providers.mine.endpoint="http://x"`, "providers.mine.options.token=", `extensions.required=["a"]`, "extensions.guard.disabled=true"
    ])
  })
})
