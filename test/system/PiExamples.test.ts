/** The examples that come with `@earendil-works/pi-coding-agent`, as they are, each driven through what it is for. */
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { piExamples } from "../kit/PiPackage.ts"
import { withWorld, type World, type WorldOptions } from "../kit/PiWorld.ts"

const examples = piExamples()
beforeAll(examples.fetch, 120_000)
afterAll(examples.remove)

interface Drive {
  /** A word on what is shown. */
  readonly shows: string
  readonly options?: Omit<WorldOptions, "paths">
  readonly use: (world: World) => Effect.Effect<unknown, unknown>
}

const assistant = (id: string, text: string) => ({ type: "message", id, message: { role: "assistant", content: [{ type: "text", text }] } })
const user = (id: string, text: string) => ({ type: "message", id, message: { role: "user", content: [{ type: "text", text }] } })
const bash = (command: string) => ({ tool: "bash", arguments: { command }, tool_call_id: "c1" })
const start = { provider: "p", model: "m", thinking: "", reason: "startup" }
const prompt = { prompt: "hi", images: [], system_prompt: "BASE" }
const step = { step: 0, timestamp: 1 }
const stepEnd = { step: 0, message: { role: "assistant", content: [] }, tool_results: [] }
const answering = (value: string | boolean) => ({ answer: () => value })
const repository = (world: World) => Effect.sync(() => {
  world.git("init", "-q")
  writeFileSync(join(world.folder, "a.txt"), "one\n")
  world.git("add", "a.txt")
  world.git("commit", "-qm", "one")
  writeFileSync(join(world.folder, "a.txt"), "two\n")
})

/** Name → what drives it. */
const drives: Readonly<Record<string, Drive>> = {
  "auto-commit-on-exit": {
    shows: "commits at the end",
    options: { ...answering(true), state: { entries: [assistant("1", "Fixed it\nmore")] } },
    use: (world) => Effect.gen(function*() {
      yield* repository(world)
      yield* world.fire("session_shutdown", { reason: "quit" })
      expect(world.git("log", "-1", "--format=%s")).toBe("[pi] Fixed it\n")
      expect(world.shown).toContain("notify info Auto-committed: [pi] Fixed it")
    })
  },
  //
  "bash-spawn-hook": { shows: "the tool bash with another environment", use: (world) => Effect.gen(function*() {
    expect((yield* world.tool("bash", { command: "echo hook=$PI_SPAWN_HOOK" }))["content"][0].text).toContain("hook=1")
  }) },
  bookmark: {
    shows: "command, labels",
    options: { state: { entries: [user("1", "q"), assistant("2", "a")] } },
    use: (world) => Effect.gen(function*() {
      yield* world.command("bookmark", "mine")
      yield* world.until(() => world.called.length === 1)
      expect(world.called).toEqual([["entry.label", { id: "2", label: "mine" }]])
      yield* world.command("unbookmark")
      yield* world.until(() => world.called.length === 2)
      expect(world.called[1]).toEqual(["entry.label", { id: "2", label: null }])
    })
  },
  "claude-rules": {
    shows: "adds to the system prompt",
    use: (world) => Effect.gen(function*() {
      execFileSync("mkdir", ["-p", join(world.folder, ".claude/rules")])
      writeFileSync(join(world.folder, ".claude/rules/one.md"), "rule")
      yield* world.fire("session_start", start)
      expect((yield* world.fire("before_agent_start", prompt))["payload"].system_prompt).toMatch(/^BASE\n[\s\S]*one\.md/)
    })
  },
  commands: {
    shows: "completions, choices",
    options: {
      answer: (kind: string, _: string, choices: ReadonlyArray<string>) => kind === "confirm" ? true : choices.find((each) => each.startsWith("/x")),
      state: { commands: [{ name: "x", description: "X", source: "extension", sourceInfo: { path: "/x.ts" } }] }
    },
    use: (world) => Effect.gen(function*() {
      yield* world.command("commands")
      expect(world.shown).toContain("notify info /x.ts")
      const handle = (yield* world.extensions.figures)[0]!.registration!.extras!.completions["commands"]!
      expect(yield* world.extensions.invoke("commands", handle, ["sk"])).toEqual([{ value: "skill", label: "skill" }])
    })
  },
  "confirm-destructive": {
    shows: "refuses a switch and a fork",
    options: { answer: (kind: string) => kind === "confirm" ? false : "No, stay in current session", state: { entries: [user("1", "x")] } },
    use: (world) => Effect.gen(function*() {
      for (const reason of ["new", "resume", "fork"]) {
        expect(yield* world.fire("session_before_switch", { reason, target_session_id: "" })).toMatchObject({ _tag: "Blocked" })
      }
      expect(world.asked).toHaveLength(3)
    })
  },
  "custom-compaction": {
    shows: "makes the summary by a model",
    options: {
      state: { models: [{ provider: "google", id: "gemini-2.5-flash" }], entries: [user("1", "question"), assistant("2", "answer")] },
      calls: { "model.ask": { message: { content: [{ type: "text", text: "SUMMARY" }] } } }
    },
    use: (world) => Effect.gen(function*() {
      const outcome = yield* world.fire("session_before_compact", { instruction: "", tokens_before: 5, entries: [{}, {}] })
      expect(outcome["compaction"]).toEqual({ summary: "SUMMARY", first_kept_index: 2 })
      expect(JSON.stringify(world.called)).toContain("[User]: question")
    })
  },
  "dirty-repo-guard": {
    shows: "asks before a switch",
    options: answering("No, let me commit first"),
    use: (world) => Effect.gen(function*() {
      yield* repository(world)
      expect(yield* world.fire("session_before_switch", { reason: "new", target_session_id: "" })).toMatchObject({ _tag: "Blocked" })
      expect(world.asked[0]).toContain("1 uncommitted file(s)")
    })
  },
  "dynamic-resources": {
    shows: "names skills, prompts, themes",
    use: (world) => Effect.gen(function*() {
      const lists = { cwd: world.folder, reason: "startup", skill_paths: ["/mine"], prompt_paths: [], theme_paths: [] }
      const { payload } = yield* world.fire("resources_discover", lists)
      expect(payload.skill_paths).toEqual(["/mine", expect.stringMatching(/dynamic-resources\/SKILL\.md$/)])
      expect(payload.theme_paths).toHaveLength(1)
    })
  },
  "dynamic-tools": {
    shows: "registers tools while it runs",
    use: (world) => Effect.gen(function*() {
      yield* world.fire("session_start", start)
      expect((yield* world.tool("echo_session", { message: "x" }))["content"]).toEqual([{ type: "text", text: "[session] x" }])
      yield* world.command("add-echo-tool", "more")
      expect((yield* world.tool("more", { message: "y" }))["details"]).toEqual({ tool: "more", prefix: "[more] " })
    })
  },
  "event-bus": {
    shows: "pi.events to itself",
    use: (world) => Effect.gen(function*() {
      yield* world.fire("session_start", start)
      yield* world.command("emit", "word")
      expect(world.shown).toContain("notify info Event from event-bus-example: Session started")
      expect(world.shown).toContain("notify info Event from /emit command: word")
    })
  },
  "file-trigger": {
    shows: "watches a file; without the file it fails alone",
    use: (world) => Effect.gen(function*() {
      yield* world.fire("session_start", start)
      yield* world.until(() => world.diagnostics.length > 0 || world.shown.length > 0)
      expect((yield* world.extensions.figures)[0]!.restarts).toBe(0)
    })
  },
  "git-checkpoint": {
    shows: "stashes at a turn, applies at a fork",
    options: { ...answering("Yes, restore code to that point"), state: { entries: [user("1", "x")] } },
    use: (world) => Effect.gen(function*() {
      yield* repository(world)
      yield* world.fire("tool_result", { tool: "bash", arguments: {}, output: "", is_error: false })
      yield* world.fire("step_start", step)
      world.git("checkout", "-q", "a.txt")
      expect(yield* world.fire("session_before_switch", { reason: "fork", target_session_id: "s1" })).toMatchObject({ _tag: "Continue" })
      expect(readFileSync(join(world.folder, "a.txt"), "utf8")).toBe("two\n")
    })
  },
  "git-merge-and-resolve": {
    shows: "sends conflicts to the model",
    use: (world) => Effect.gen(function*() {
      yield* repository(world)
      world.git("commit", "-qam", "two")
      world.git("checkout", "-qb", "side", "HEAD~1")
      writeFileSync(join(world.folder, "a.txt"), "three\n")
      world.git("commit", "-qam", "three")
      try {
        world.git("merge", "-q", "-")
      } catch {
        // The conflict it is for.
      }
      yield* world.fire("agent_end", { messages: [] })
      yield* world.until(() => world.called.length > 0)
      expect(world.called[0]![0]).toBe("message.user")
      expect(world.called[0]![1]["content"]).toContain("a.txt:1-5")
    })
  },
  hello: { shows: "a tool", use: (world) => Effect.gen(function*() {
    expect(yield* world.tool("hello", { name: "Ann" })).toMatchObject({ content: [{ text: "Hello, Ann!" }], details: { greeted: "Ann" } })
  }) },
  "hidden-thinking-label": { shows: "a label", use: (world) => Effect.gen(function*() {
    yield* world.fire("session_start", start)
    yield* world.command("thinking-label", "Hm")
    expect(world.shown).toEqual(["hidden_thinking_label Pondering...", "hidden_thinking_label Hm", "notify info Hidden thinking label set to: Hm"])
  }) },
  "inline-bash": { shows: "changes what is typed", use: (world) => Effect.gen(function*() {
    expect((yield* world.fire("input", { text: "say !{echo hi} now", images: [] }))["payload"].text).toBe("say hi now")
  }) },
  "input-transform": { shows: "changes or handles what is typed", use: (world) => Effect.gen(function*() {
    expect((yield* world.fire("input", { text: "?quick why", images: [] }))["payload"].text).toBe("Respond briefly in 1-2 sentences: why")
    expect(yield* world.fire("input", { text: "ping", images: [] })).toMatchObject({ _tag: "Blocked" })
    expect(world.shown).toEqual(["notify info pong"])
  }) },
  "input-transform-streaming": { shows: "changes what is typed, not what steers", use: (world) => Effect.gen(function*() {
    yield* repository(world)
    expect((yield* world.fire("input", { text: "show changes", images: [] }))["payload"].text).toContain("a.txt")
    expect((yield* world.fire("input", { text: "show changes", images: [], streaming: "steer" }))["payload"].text).toBe("show changes")
  }) },
  "mac-system-theme": { shows: "a theme, where there is one", options: { state: { "ui.themes": [{ name: "light" }, { name: "dark" }] } }, use: (world) => Effect.gen(function*() {
    yield* world.fire("session_start", start)
    expect(world.shown[0]).toMatch(/^theme (light|dark)$/)
    yield* world.fire("session_shutdown", { reason: "quit" })
  }) },
  "model-status": { shows: "a changed model", use: (world) => Effect.gen(function*() {
    yield* world.fire("session_settings_changed", { provider: "p", model: "m2", thinking: "" })
    yield* world.until(() => world.shown.length > 1)
    expect(world.shown).toEqual(["notify info Model: p/m2", "status model-status:model 🤖 m2"])
  }) },
  notify: { shows: "escape codes go to its log", use: (world) => Effect.gen(function*() {
    yield* world.fire("agent_settled")
    const log = () => {
      try {
        return readFileSync(join(world.folder, "../logs/notify.log"), "utf8")
      } catch {
        return ""
      }
    }
    yield* world.until(() => log().includes("Ready for input"))
    expect(log()).toContain("Ready for input")
  }) },
  "permission-gate": { shows: "asks before a dangerous command", options: answering("No"), use: (world) => Effect.gen(function*() {
    expect(yield* world.fire("tool_call", bash("ls"))).toMatchObject({ _tag: "Continue" })
    expect(yield* world.fire("tool_call", bash("sudo rm -rf x"))).toMatchObject({ _tag: "Blocked", reason: "Blocked by user" })
    expect(world.asked).toHaveLength(1)
  }) },
  pirate: { shows: "command, system prompt", use: (world) => Effect.gen(function*() {
    expect((yield* world.fire("before_agent_start", prompt))["payload"].system_prompt).toBe("BASE")
    yield* world.command("pirate")
    expect((yield* world.fire("before_agent_start", prompt))["payload"].system_prompt).toContain("PIRATE MODE")
  }) },
  "plan-mode": {
    shows: "flag, tools, blocks, widget, entries",
    options: { ...answering("Stay in plan mode"), flags: { plan: true }, state: { tools: ["read", "bash", "edit", "write"].map((name) => ({ name })), active_tools: ["read", "bash", "edit", "write"] } },
    use: (world) => Effect.gen(function*() {
      yield* world.fire("session_start", start)
      yield* world.until(() => world.called.some(([method]) => method === "tools.set_active"))
      expect(world.called.find(([method]) => method === "tools.set_active")![1]["names"]).not.toContain("edit")
      expect(yield* world.fire("tool_call", bash("rm x"))).toMatchObject({ _tag: "Blocked" })
      expect(yield* world.fire("tool_call", bash("ls"))).toMatchObject({ _tag: "Continue" })
      expect((yield* world.fire("before_agent_start", prompt))["messages"][0].content).toContain("PLAN MODE")
      const shortcut = (yield* world.extensions.figures)[0]!.registration!.extras!.shortcuts[0]!
      yield* world.extensions.invoke("plan-mode", shortcut.handle, [])
      expect(yield* world.fire("tool_call", bash("rm x"))).toMatchObject({ _tag: "Continue" })
    })
  },
  "project-trust": { shows: "decides on trust", options: answering("Trust and remember"), use: (world) => Effect.gen(function*() {
    const { payload } = yield* world.fire("project_trust", { cwd: "/p", trusted: "undecided", remember: false })
    expect(payload).toMatchObject({ trusted: "yes", remember: true })
  }) },
  "prompt-customizer": { shows: "sections of the system prompt", options: { state: { active_tools: ["read"] } }, use: (world) => Effect.gen(function*() {
    expect((yield* world.fire("before_agent_start", prompt))["payload"].system_prompt).toMatch(/^BASE\n\n- Use `read`/)
  }) },
  "protected-paths": { shows: "blocks writing", use: (world) => Effect.gen(function*() {
    expect(yield* world.fire("tool_call", { tool: "write", arguments: { path: ".env" } })).toMatchObject({ reason: "Path \".env\" is protected" })
    expect(yield* world.fire("tool_call", { tool: "write", arguments: { path: "a" } })).toMatchObject({ _tag: "Continue" })
  }) },
  "provider-payload": { shows: "sees requests and answers", use: (world) => Effect.gen(function*() {
    execFileSync("mkdir", ["-p", join(world.folder, ".nimlet")])
    const selected = { provider: "p", model: "m", thinking: "" }
    yield* world.fire("before_provider_request", { ...selected, payload: { model: "m" } })
    yield* world.fire("after_provider_response", { ...selected, status: 200, headers: { a: "b" }, duration_ms: 1, error_body: "" })
    const file = () => readFileSync(join(world.folder, ".nimlet/provider-payload.log"), "utf8")
    yield* world.until(() => file().includes("[200]"))
    expect(file()).toContain("[200] {\"a\":\"b\"}")
  }) },
  "reload-runtime": { shows: "reload by tool and command", use: (world) => Effect.gen(function*() {
    expect(yield* world.tool("reload_runtime")).toMatchObject({ terminate: true })
    yield* world.fire("agent_settled")
    yield* world.until(() => world.called.length === 1)
    expect(world.called[0]).toEqual(["message.user", { content: "/reload-runtime", options: { expandPromptTemplates: true } }])
    yield* world.command("reload-runtime")
    expect(world.called[1]![0]).toBe("session.reload")
  }) },
  "rpc-demo": {
    shows: "every dialog",
    options: { answer: (kind: string) => ({ select: "Block", confirm: false, input: "typed", editor: "a\nb" })[kind] },
    use: (world) => Effect.gen(function*() {
      yield* world.fire("session_start", start)
      yield* world.fire("step_start", step)
      expect(yield* world.fire("tool_call", bash("sudo x"))).toMatchObject({ reason: "Blocked by user" })
      expect(yield* world.fire("session_before_switch", { reason: "new", target_session_id: "" })).toMatchObject({ _tag: "Blocked" })
      yield* world.command("rpc-input")
      yield* world.command("rpc-editor")
      yield* world.command("rpc-prefill")
      expect(world.shown).toEqual(expect.arrayContaining([
        "title pi RPC Demo", "widget rpc-demo:rpc-demo --- RPC Extension UI Demo ---|Loaded and ready.", "status rpc-demo:rpc-demo Turn 1 running...",
        "notify info You entered: typed", "notify info Editor submitted (2 lines)", "editor_text This text was set by the rpc-demo extension."
      ]))
    })
  },
  "send-user-message": { shows: "messages, idle and busy", use: (world) => Effect.gen(function*() {
    yield* world.command("ask", "one")
    world.state["idle"] = false
    yield* world.command("steer", "two")
    yield* world.command("followup", "three")
    yield* world.command("ask", "four")
    yield* world.until(() => world.called.length === 3)
    expect(world.called.map(([, { content, options }]) => [content, options.deliverAs])).toEqual([["one", undefined], ["two", "steer"], ["three", "followUp"]])
    expect(world.shown).toContain("notify warning Agent is busy. Use /steer or /followup instead.")
  }) },
  "session-name": { shows: "the title", use: (world) => Effect.gen(function*() {
    yield* world.command("session-name", "mine")
    yield* world.command("session-name")
    expect(world.shown).toEqual(["notify info Session named: mine", "notify info Session: mine"])
    yield* world.until(() => world.called.length === 1)
    expect(world.called).toEqual([["session.set_name", { name: "mine" }]])
  }) },
  "shutdown-command": { shows: "ends the program, progress of a tool", use: (world) => Effect.gen(function*() {
    const updates: Array<string> = []
    yield* world.tool("deploy_and_exit", { environment: "prod" }, updates)
    yield* world.command("quit")
    yield* world.until(() => world.called.length === 2)
    expect(updates).toEqual(["Deploying to prod...", "\nDeployment complete, exiting..."])
    expect(world.called.map(([method]) => method)).toEqual(["session.shutdown", "session.shutdown"])
  }) },
  ssh: { shows: "built-in tools over operations of its own; here on this machine", use: (world) => Effect.gen(function*() {
    const file = join(world.folder, "a.txt")
    yield* world.tool("write", { path: file, content: "one\n" })
    yield* world.tool("edit", { path: file, edits: [{ oldText: "one", newText: "two" }] })
    expect((yield* world.tool("read", { path: file }))["content"][0].text).toBe("two\n")
    expect((yield* world.tool("bash", { command: `cat ${file}` }))["content"][0].text).toBe("two\n")
  }) },
  "status-line": { shows: "a coloured status", use: (world) => Effect.gen(function*() {
    yield* world.fire("session_start", start)
    yield* world.fire("step_start", step)
    yield* world.fire("step_end", stepEnd)
    expect(world.shown).toEqual(["Ready", "● Turn 1...", "✓ Turn 1 complete"].map((text) => `status status-line:status-demo ${text}`))
  }) },
  "structured-output": { shows: "a tool that ends the run", use: (world) => Effect.gen(function*() {
    expect(yield* world.tool("structured_output", { headline: "H", summary: "S", actionItems: [] })).toMatchObject({ terminate: true, details: { headline: "H" } })
    expect((yield* world.extensions.tools)[0]!.extras?.prompt_snippet).toContain("structured answer")
  }) },
  "system-prompt-header": { shows: "reads the system prompt", options: { state: { system_prompt: "four" } }, use: (world) => Effect.gen(function*() {
    yield* world.fire("agent_start")
    expect(world.shown).toEqual(["status system-prompt-header:system-prompt System: 4 chars"])
  }) },
  "timed-confirm": { shows: "a question that gives up by itself", options: { answer: () => undefined }, use: (world) => Effect.gen(function*() {
    yield* world.command("timed")
    expect(world.shown).toContain("notify info Cancelled or timed out")
  }) },
  "titlebar-spinner": { shows: "a title that moves", use: (world) => Effect.gen(function*() {
    yield* world.fire("agent_start")
    expect(yield* world.until(() => world.shown.length > 3)).toBe(true)
    yield* world.fire("agent_settled")
    expect(world.shown.at(-1)).toMatch(/^title π - /)
  }) },
  //
  "tool-override": { shows: "the tool read with a log and refusals", options: { answer: () => undefined }, use: (world) => Effect.gen(function*() {
    writeFileSync(join(world.folder, "a.txt"), "one\n")
    // Where its log goes; a session of ours has made it by then.
    mkdirSync(join(dirname(world.folder), ".nimlet"))
    const read = (name: string) => Effect.map(world.tool("read", { path: join(world.folder, name) }), (reply) => reply["content"][0].text)
    expect([yield* read("a.txt"), yield* read(".env")]).toEqual(["one\n", expect.stringContaining("Access denied")])
    yield* world.command("read-log")
    expect(world.shown.at(-1)).toMatch(/Recent file access:[^]*a\.txt[^]*\.env/)
  }) },
  "trigger-compact": { shows: "compacts when it is time", options: { state: { usage: { tokens: 90_000 } } }, use: (world) => Effect.gen(function*() {
    yield* world.fire("step_end", stepEnd)
    world.state["usage"] = { tokens: 120_000 }
    yield* world.fire("step_end", stepEnd)
    yield* world.until(() => world.called.length === 1)
    expect(world.called[0]![0]).toBe("session.compact")
  }) },
  "widget-placement": { shows: "widgets", options: answering(true), use: (world) => Effect.gen(function*() {
    yield* world.fire("session_start", start)
    expect(world.shown).toEqual(["widget widget-placement:widget-above Above editor widget", "widget widget-placement:widget-below Below editor widget"])
  }) },
  "with-deps": { shows: "a tool over a package of its own", use: (world) => Effect.gen(function*() {
    expect((yield* world.tool("parse_duration", { duration: "2 days" }))["content"][0].text).toContain("172800000")
  }) },
  "working-indicator": { shows: "the indicator", use: (world) => Effect.gen(function*() {
    yield* world.fire("session_start", start)
    yield* world.command("working-indicator", "none")
    expect(world.shown).toContain("working_indicator {\"frames\":[]}")
  }) },
  "working-message-test": { shows: "the working message", use: (world) => Effect.gen(function*() {
    yield* world.fire("session_start", start)
    expect(world.shown[0]).toContain("Working... (custom)")
  }) }
}

const shown = new Map<string, string>()

describe("an example of pi, unmodified", () => {
  it.each(Object.keys(drives))("%s", async (name) => {
    const drive = drives[name]!
    await withWorld({ paths: [examples.path(name)], ...drive.options }, (world) => drive.use(world))
    shown.set(name, `works: ${drive.shows}`)
  })

  it("that needs more than there is loads and says what is missing, and hurts nobody", async () => {
    const others = examples.names().filter((name) => !(name in drives))
    await withWorld({ paths: others.map(examples.path), answer: () => undefined }, (world) => Effect.gen(function*() {
      yield* world.fire("session_start", start)
      for (const { fault, key, registration } of yield* world.extensions.figures) {
        const why = fault === undefined ? undefined : /Cannot find package '([^']+)'/.exec(fault)?.[1]
        expect([key, fault === undefined || why !== undefined]).toEqual([key, true])
        const said = world.diagnostics.filter(({ extension, message }) => extension === key && message.includes("not available")).map(({ message }) => message)
        const missing = said.map((message) => /: (.*): not available here|: Error: (.*) is not available/.exec(message)).map((match) => match?.[1] ?? match?.[2])
        const renders = (registration?.extras?.renderers.length ?? 0) > 0 ? ["drawing by its own components"] : []
        shown.set(key, why !== undefined
          ? `not without the package ${why}`
          : `loads; ${[...new Set([...missing, ...renders])].join(", ") || "what it draws or runs itself"} missing`)
      }
      for (const { restarts, state } of yield* world.extensions.figures) expect([restarts, ["Running", "Stopped"].includes(state)]).toEqual([0, true])
    }))
  })

  it("stands in the table of the package's README as it ran", () => {
    const file = join(import.meta.dirname, "../../packages/atomic/README.md")
    const table = ["| example | with nimlet |", "| --- | --- |", ...[...shown].sort(([a], [b]) => a < b ? -1 : 1).map(([name, what]) => `| ${name} | ${what} |`)].join("\n")
    const text = readFileSync(file, "utf8")
    const next = text.replace(/(<!-- examples -->\n)[\s\S]*?(\n<!-- \/examples -->)/, (_, head: string, foot: string) => `${head}${table}${foot}`)
    writeFileSync(file, next)
    expect(next).toContain(table)
    expect(text).toBe(next)
  })
})
