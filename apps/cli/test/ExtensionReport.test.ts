import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { type ExtensionFigures, families, type Found } from "@nimlet/extension"
import type { Registration } from "@nimlet/protocol"
import { type ExtensionFacts, ExtensionReport, extensionReport } from "../src/report/ExtensionReport.ts"
import { extensionText } from "../src/report/ExtensionText.ts"

const [family] = families
const root = "/h/.nimlet/extensions"
const found = (name: string, more: Partial<Found> = {}): Found =>
  ({ key: name, manifest: { name, command: ["./x"] }, folder: `${root}/${name}`, family: family!, project: false, ...more })
const offers = (more: Partial<Registration>): Registration => ({ commands: [], tools: [], events: [], modes: [], providers: [], ...more })
const tool = (name: string) => ({ name, description: name, input_schema: { type: "object" }, capabilities: ["read" as const] })
const figures = (of: Found, more: Partial<ExtensionFigures> = {}): ExtensionFigures => ({
  ...of, state: "Running", pid: 1, restarts: 0, startMillis: 12.4, registration: offers({}), fault: undefined, unknownEvents: [],
  requests: { open: 0, answered: 0, failed: 0 }, hookMillis: undefined, lateReplies: 0, droppedLines: 0, memoryBytes: undefined, ...more
} as ExtensionFigures)

/** Facts of a start of what `all` says, nothing wrong with it. */
const facts = (all: ReadonlyArray<ExtensionFigures>, more: Partial<ExtensionFacts> = {}): ExtensionFacts => ({
  workspace: "/w",
  settingsFile: "/h/.nimlet/config.json",
  logs: "/h/.nimlet/logs",
  logFiles: new Set(["a.log"]),
  choice: { roots: [{ path: root, family: family!, project: false }], paths: [], trusted: false, settings: {}, settingsFile: "/h/.nimlet/config.json", required: [], reservedProviders: [] },
  listings: [{ root, folders: all.map(({ folder }) => ({ path: folder, real: folder })) }],
  unsearched: [],
  passedOver: [],
  found: all,
  discoveryWarnings: [],
  report: { started: all.map(({ key }) => key), warnings: [], missing: [] },
  figures: all,
  tools: [],
  commands: [],
  modes: [],
  providers: [],
  reservedTools: new Set(["bash"]),
  ...more
})
const lines = (report: ExtensionReport) => extensionText(report, "/h").split("\n").map((line) => line.trim())

describe("the list of extensions", () => {
  it("has each with where it is from and what it offers, and is a plain object", () => {
    const registration = offers({ tools: [tool("look")], commands: [{ name: "Todo" }], events: ["turn_end"] })
    const all = [figures(found("a"), { registration })]
    const report = extensionReport(facts(all, {
      tools: [{ name: "look", description: "", inputSchema: {}, capabilities: ["read"], unasked: false, extension: "a" }],
      commands: [{ name: "Todo", description: "", whileBusy: false, extension: "a" }]
    }))
    assert.isTrue(report.ok)
    assert.deepInclude(report.extensions[0], {
      key: "a", name: "a", family: "nimlet", root, folder: `${root}/a`, state: "running", start_ms: 12.4, fault: null,
      tools: [{ name: "look", description: "look", capabilities: ["read"] }], commands: [{ name: "Todo", description: "", while_busy: false }], events: [{ name: "turn_end" }]
    })
    const text = Schema.encodeSync(Schema.fromJsonString(ExtensionReport))(report)
    assert.deepStrictEqual(JSON.parse(text), report)
    assert.include(lines(report), "a: running, started in 12 ms")
    assert.include(lines(report), "from      ~/.nimlet/extensions/a (nimlet)")
  })

  it("gives the reason for a broken folder that several paths reach, and tells of what is no extension without failing over it", () => {
    const reached = (name: string) => ({ path: `${root}/${name}`, real: `${root}/aaa` })
    const listings = [{ root, folders: [reached("aaa"), reached("zzz")] }, { root: "/other", folders: [{ path: "/other/b", real: "/other/b" }] }]
    const report = extensionReport(facts([], { listings, discoveryWarnings: [`skipping ${root}/aaa: command must be an array`] }))
    assert.deepStrictEqual(report.skipped, [
      { what: "manifest", path: `${root}/aaa`, why: "command must be an array" },
      { what: "manifest", path: "/other/b", why: "it cannot be read" }
    ])
    const empty = extensionReport(facts([], { passedOver: [{ path: `${root}/empty`, why: "it has no extension.json" }] }))
    assert.isTrue(empty.ok)
    assert.include(lines(empty), "~/.nimlet/extensions/empty: it has no extension.json")
  })

  it("names the log of one that failed where there is one", () => {
    const dead = (name: string) => figures(found(name), { state: "Stopped", fault: "it exited" })
    const text = lines(extensionReport(facts([dead("a"), dead("b")])))
    assert.deepStrictEqual(text.filter((line) => line.startsWith("log")), ["log       ~/.nimlet/logs/a.log", "log       it wrote nothing to stderr"])
  })

  it("knows an extension that was named by path from those of a root", () => {
    const one = figures(found("a", { folder: "/real/a" }))
    const choice = { ...facts([]).choice, paths: ["/link/a"] }
    const report = extensionReport(facts([one], { choice, listings: [{ root: "/link/a", folders: [{ path: "/link/a", real: "/real/a" }] }] }))
    assert.isNull(report.extensions[0]!.root)
    assert.include(lines(report), "from      /real/a (nimlet, by -e)")
  })

  it("says who has a tool, a command, a mode or a provider that two offer", () => {
    const mode = { id: "calm", label: "Calm", prompt: "", permissions: "ask" as const, tools: [] }
    const provider = { name: "acme", api: "openai-chat-completions" as const, api_url: "http://x", default_model: "m", models: [], api_key_env: [], requires_api_key: false }
    const registration = offers({ tools: [tool("look")], commands: [{ name: "TODO" }], modes: [mode], providers: [provider, { ...provider, name: "openai" }] })
    const report = extensionReport(facts([figures(found("a"), { registration }), figures(found("b"), { registration })], {
      tools: [{ name: "look", description: "", inputSchema: {}, capabilities: [], unasked: false, extension: "b" }],
      commands: [{ name: "todo", description: "", whileBusy: false, extension: "a" }],
      modes: [{ ...mode, extension: "a" }],
      providers: [{ ...provider, extension: "a" }]
    }))
    const [a, b] = report.extensions
    assert.deepStrictEqual([a!.tools[0]!.overridden_by, b!.tools[0]!.overridden_by], ["b", undefined])
    assert.deepStrictEqual([b!.commands[0]!.overridden_by, b!.modes[0]!.overridden_by, b!.providers[0]!.overridden_by], ["a", "a", "a"])
    assert.isDefined(b!.providers[1]!.left_out)
    const shadowed = extensionReport(facts([figures(found("c"), { registration: offers({ commands: [{ name: "Compact" }] }) })], {
      commands: [{ name: "Compact", description: "", whileBusy: false, extension: "c" }]
    }))
    assert.strictEqual(shadowed.extensions[0]!.commands[0]!.left_out, "nimlet has a command of that name")
    assert.include(lines(shadowed).join("\n"), "nimlet has a command of that name")
    assert.isTrue(report.ok)
    assert.include(lines(report), "! tool look is b's, which offers it too")
    assert.include(lines(report), "! command /TODO is a's, which offers it too")
  })

  it("says why a tool is left out, which events never fire, and how the second of a name goes by", () => {
    const registration = offers({ tools: [tool("bash"), tool("has space")], events: ["tool_cal", "tool_call"] })
    const report = extensionReport(facts([figures(found("a")), figures(found("a", { key: "a#2", folder: "/h/other/a" }), { registration })], {
      report: { started: [], warnings: ["extension tool 'bash' collides with a built-in tool", "something else"], missing: [] }
    }))
    const [, second] = report.extensions
    assert.include(second!.tools[0]!.left_out, "built-in")
    assert.include(second!.tools[1]!.left_out, "64")
    assert.deepStrictEqual(second!.events, [{ name: "tool_cal", never_fires: true }, { name: "tool_call" }])
    assert.deepStrictEqual(report.warnings, ["something else"])
    assert.isDefined(lines(report).find((line) => line.startsWith("! event tool_cal ")))
    assert.isDefined(lines(report).find((line) => line.includes("a#2") && line.includes("not the first")))
  })

  it("says why others were not started, and that only what could not start is a failure", () => {
    const nimlet = family!
    const off = found("off")
    const more: Partial<ExtensionFacts> = {
      found: [off],
      listings: [{ root, folders: [{ path: off.folder, real: off.folder }] }],
      choice: { ...facts([]).choice, settings: { off: { disabled: true } } },
      unsearched: [
        { root: { path: "/w/.nimlet/extensions", family: nimlet, project: true }, reason: "untrusted", count: 2 },
        { root: { path: "/w/.agents/extensions", family: nimlet, project: true }, reason: "untrusted", count: 0 },
        { root: { path: "/h/.x", family: nimlet, project: false }, reason: "family_off", count: 1 }
      ]
    }
    const fine = extensionReport(facts([], more))
    assert.isTrue(fine.ok)
    assert.deepStrictEqual(fine.skipped.map(({ count, name, path, what }) => [what, path, name ?? count]), [
      ["disabled", off.folder, "off"], ["root", "/w/.nimlet/extensions", 2], ["root", "/h/.x", 1]
    ])
    assert.include(fine.skipped[0]!.why, "extensions.off.disabled")
    assert.include(fine.skipped[1]!.why, "--approve")
    assert.include(fine.skipped[2]!.why, "extensions.families.nimlet")
    const bad = extensionReport(facts([], { ...more, listings: [{ root, folders: [{ path: `${root}/bad`, real: "/real/bad" }] }], discoveryWarnings: [`skipping ${root}/bad: missing name`] }))
    assert.isFalse(bad.ok)
    assert.deepInclude(bad.skipped[0], { what: "manifest", path: `${root}/bad`, why: "missing name" })
  })

  it("is a failure when one has a fault or a required one does not run", () => {
    const fault = "it exited with code 1 before it registered"
    const dead = extensionReport(facts([figures(found("a"), { state: "Stopped", fault, registration: undefined, startMillis: undefined })], {
      report: { started: [], warnings: [`extension 'a' failed to start: ${fault}`], missing: [] }
    }))
    assert.deepStrictEqual([dead.ok, dead.extensions[0]!.fault, dead.extensions[0]!.start_ms, dead.warnings], [false, fault, null, []])
    assert.include(lines(dead), `! ${fault}`)
    assert.include(lines(dead), "log       ~/.nimlet/logs/a.log")
    const missing = extensionReport(facts([], { report: { started: [], warnings: [], missing: [{ extension: "guard", reason: "not found" }] } }))
    assert.isFalse(missing.ok)
    assert.include(lines(missing), "guard: not found")
  })

  it("shows words of an extension as words, whatever is in them", () => {
    const registration = offers({ commands: [{ name: "a\u001b[2Jb\nc" }] })
    const report = extensionReport(facts([figures(found("a"), { registration })], { commands: [{ name: "a\u001b[2Jb\nc", description: "", whileBusy: false, extension: "a" }] }))
    assert.include(lines(report), "commands  /a[2Jb c")
  })
})
