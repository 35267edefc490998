/** The examples of pi that need nothing but what a client can show, each in the program itself: a model that answers by a script, and somebody who answers questions. */
import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { checkRecords } from "@nimlet/protocol"
import { type ModelStub, startModelStub } from "../kit/ModelStub.ts"
import { piExamples } from "../kit/PiPackage.ts"
import { anthropic } from "../kit/Providers.ts"
import { type RpcDriver, startRpc } from "../kit/RpcDriver.ts"
import type { Step } from "../kit/Scenario.ts"
import { makeWorkspace, records, startNimlet, type Workspace } from "../kit/Workspace.ts"

const examples = piExamples()
beforeAll(examples.fetch, 120_000)
afterAll(examples.remove)

type Json = Record<string, any>

/** A run with one example. */
interface Session extends RpcDriver {
  readonly space: Workspace
  readonly stub: ModelStub
  /** Says something and waits for the end of its turn. */
  readonly say: (message: string) => Promise<Json>
  readonly git: (...args: ReadonlyArray<string>) => string
  /** What was told. */
  readonly notices: () => ReadonlyArray<string>
  readonly results: () => ReadonlyArray<string>
  /** The last request's text, its system prompt and its messages. */
  readonly request: () => { readonly system: string; readonly messages: string }
}

interface Drive {
  readonly steps?: ReadonlyArray<Step>
  readonly args?: ReadonlyArray<string>
  readonly env?: (space: Workspace) => Record<string, string>
  readonly before?: (space: Workspace, git: Session["git"]) => void
  /** Answers a question. */
  readonly answer?: (question: Json) => string | boolean | undefined
  readonly use: (session: Session) => Promise<unknown>
  readonly after?: (session: Session) => void
  /** What nimlet warns of, each by a part of it. */
  readonly told?: ReadonlyArray<string>
  /** It ends the program by itself. */
  readonly ends?: true
}

const call = (name: string, args: object): Step => ({ tools: [{ name, args }] })
const dirty = (space: Workspace, git: Session["git"]) => {
  git("init", "-q")
  writeFileSync(join(space.work, "a.txt"), "one\n")
  git("add", "a.txt")
  git("commit", "-qm", "one")
  writeFileSync(join(space.work, "a.txt"), "two\n")
}
const shows = (kind: string, text: string) => (record: Json) => record["type"] === kind && JSON.stringify(record).includes(text)
const runs: Drive["use"] = async ({ say }) => expect(await say("hello")).toMatchObject({ success: true })

const drives: Readonly<Record<string, Drive>> = {
  "auto-commit-on-exit": {
    steps: [{ text: "Fixed it" }], before: dirty, use: runs,
    after: ({ git }) => expect(git("log", "-1", "--format=%s")).toBe("[pi] Fixed it\n")
  },
  bookmark: { use: async ({ all, say, space }) => {
    await say("hello")
    await say("/bookmark mine")
    // A label is saved beside the command that sets it; by the end of the next one it is there.
    await say("/bookmark other")
    expect(readFileSync(join(space.home, ".nimlet/sessions", `${all()[0]!["session_id"]}.jsonl`), "utf8")).toMatch(/"type":"label".*"label":"mine"/)
  } },
  "claude-rules": {
    before: ({ work }) => {
      mkdirSync(join(work, ".claude/rules"), { recursive: true })
      writeFileSync(join(work, ".claude/rules/one.md"), "rule")
    },
    use: async (session) => {
      await runs(session)
      expect(session.request().system).toContain("one.md")
    }
  },
  commands: {
    answer: ({ method, options }) => method === "confirm" ? true : options?.[0],
    use: async ({ all, say }) => {
      expect(await say("/commands")).toMatchObject({ success: true })
      expect(all().some(shows("ui_request", "/commands"))).toBe(true)
    }
  },
  "confirm-destructive": { answer: () => false, use: async ({ ask, say }) => {
    await say("hello")
    expect(await ask("new")).toMatchObject({ ok: false })
  } },
  "dirty-repo-guard": { before: dirty, answer: ({ options }) => options.find((each: string) => each.startsWith("No")), use: async ({ ask, say }) => {
    await say("hello")
    expect(await ask("new")).toMatchObject({ ok: false })
  } },
  "dynamic-resources": { use: async (session) => {
    await runs(session)
    expect(session.request().system).toContain("dynamic-resources")
  } },
  "dynamic-tools": { steps: [call("echo_session", { message: "x" }), { text: "ok" }, call("more", { message: "y" })], use: async ({ results, say }) => {
    await say("go")
    await say("/add-echo-tool more")
    await say("again")
    expect(results()).toEqual(["[session] x", "[more] y"])
  } },
  "event-bus": { use: async ({ notices, say }) => {
    await say("/emit word")
    expect(notices()).toContain("Event from /emit command: word")
  } },
  "git-checkpoint": { steps: [call("read", { path: "a.txt" })], before: dirty, use: runs },
  "git-merge-and-resolve": {
    before: (space, git) => {
      dirty(space, git)
      git("commit", "-qam", "two")
      git("checkout", "-qb", "side", "HEAD~1")
      writeFileSync(join(space.work, "a.txt"), "three\n")
      git("commit", "-qam", "three")
      try {
        git("merge", "-q", "-")
      } catch {
        // The conflict it is for.
      }
    },
    use: async ({ request, running, say, stub }) => {
      await say("hello")
      await running.until(() => stub.requests.length > 1)
      expect(request().messages).toContain("a.txt:1-5")
    }
  },
  hello: { steps: [call("hello", { name: "Ann" })], use: async ({ results, say }) => {
    await say("greet")
    expect(results()).toEqual(["Hello, Ann!"])
  } },
  "hidden-thinking-label": { use: async ({ notices, say }) => {
    await say("/thinking-label Hm")
    expect(notices()).toContain("Hidden thinking label set to: Hm")
  } },
  "inline-bash": { use: async ({ request, say }) => {
    await say("say !{echo hi} now")
    expect(request().messages).toContain("say hi now")
  } },
  "input-transform": { use: async ({ notices, request, say, stub }) => {
    await say("ping")
    expect([notices(), stub.requests.length]).toEqual([["pong"], 0])
    await say("?quick why")
    expect(request().messages).toContain("Respond briefly in 1-2 sentences: why")
  } },
  "input-transform-streaming": { before: dirty, use: async ({ request, say }) => {
    await say("show changes")
    expect(request().messages).toContain("a.txt")
  } },
  "mac-system-theme": { use: runs },
  "model-status": { use: async ({ ask, until }) => {
    await ask("set_model", { model: "claude-opus-4-6" })
    await until(shows("status", "claude-opus-4-6"))
  } },
  notify: { use: runs, after: ({ space }) => expect(readFileSync(join(space.home, ".nimlet/logs/notify.log"), "utf8")).toContain("Ready for input") },
  "permission-gate": { steps: [call("bash", { command: "sudo rm -rf x" })], answer: () => "No", use: async ({ results, say }) => {
    await say("go")
    expect(results()).toEqual(["approval_denied: Blocked by user"])
  } },
  pirate: { use: async ({ request, say }) => {
    await say("/pirate")
    await say("hello")
    expect(request().system).toContain("PIRATE MODE")
  } },
  "plan-mode": { args: ["--plan"], told: ["'/plan' is never run"], steps: [call("bash", { command: "rm a" }), { text: "I see." }], answer: () => "Stay in plan mode", use: async ({ request, results, say, stub }) => {
    await say("go")
    expect(results()[0]).toMatch(/^approval_denied: /)
    expect(request().messages).toContain("PLAN MODE")
    expect((stub.requests[0]!.body as Json)["tools"].map(({ name }: Json) => name)).not.toContain("edit")
  } },
  "prompt-customizer": { use: async (session) => {
    await runs(session)
    expect(session.request().system).toContain("Use `read`")
  } },
  "protected-paths": { steps: [call("write", { path: ".env", content: "x" })], use: async ({ results, say, space }) => {
    await say("go")
    expect([results(), existsSync(join(space.work, ".env"))]).toEqual([["approval_denied: Path \".env\" is protected"], false])
  } },
  "provider-payload": { before: ({ work }) => mkdirSync(join(work, ".nimlet")), use: runs, after: ({ space }) => expect(readFileSync(join(space.work, ".nimlet/provider-payload.log"), "utf8")).toMatch(/claude-sonnet[\s\S]*\[200\]/) },
  "reload-runtime": { steps: [call("reload_runtime", {})], use: async ({ all, running, say }) => {
    expect(await say("go")).toMatchObject({ success: true })
    // It says its own command when the run has settled.
    await running.until(() => all().filter(({ type }) => type === "run_end").length === 2)
    expect(all().some(shows("run_start", "/reload-runtime"))).toBe(true)
    expect(await say("/reload-runtime")).toMatchObject({ success: true })
    expect(await say("hello")).toMatchObject({ success: true })
  } },
  "rpc-demo": {
    steps: [call("bash", { command: "sudo x" })],
    answer: ({ method }) => ({ question: "Block", confirm: false, input: "typed", editor: "a\nb" } as Json)[method],
    use: async ({ all, ask, notices, results, say }) => {
      await say("go")
      expect(results()).toEqual(["approval_denied: Blocked by user"])
      await say("/rpc-input")
      await say("/rpc-editor")
      expect(notices()).toEqual(expect.arrayContaining(["You entered: typed", "Editor submitted (2 lines)"]))
      expect(all().some(shows("widget", "Loaded and ready"))).toBe(true)
      expect(await ask("new")).toMatchObject({ ok: false })
    }
  },
  "send-user-message": { use: async ({ request, running, say, stub }) => {
    await say("/ask one")
    await running.until(() => stub.requests.length > 0)
    expect(request().messages).toContain("one")
  } },
  "session-name": { use: async ({ notices, say }) => {
    await say("/session-name mine")
    await say("/session-name")
    expect(notices()).toEqual(["Session named: mine", "Session: mine"])
  } },
  "shutdown-command": { ends: true, steps: [call("finish_and_exit", {})], use: async ({ running, send }) => {
    send("prompt", { message: "go" })
    expect((await running.ended).code).toBe(0)
  } },
  ssh: {
    args: ["--ssh", "me@far.example:/"], steps: [call("bash", { command: "echo there" }), call("read", { path: "note" })],
    before: ({ home, work }) => {
      mkdirSync(join(home, "bin"))
      // Another machine that is this one.
      writeFileSync(join(home, "bin/ssh"), `#!/bin/sh\nshift\necho "$@" >> "${work}/asked"\nexec sh -c "$*"\n`)
      chmodSync(join(home, "bin/ssh"), 0o755)
    },
    env: ({ home }) => ({ PATH: `${join(home, "bin")}:${process.env["PATH"]}` }),
    use: async ({ results, say, space }) => {
      await say("go")
      expect(results()[0]).toContain("there")
      expect(readFileSync(join(space.work, "asked"), "utf8")).toMatch(/echo there[\s\S]*note/)
    }
  },
  "status-line": { use: async (session) => {
    await runs(session)
    await session.until(shows("status", " Turn 1 complete"))
  } },
  "structured-output": { steps: [call("structured_output", { headline: "H", summary: "S", actionItems: [] })], use: async ({ results, say, stub }) => {
    await say("go")
    expect([results()[0], stub.requests.length]).toEqual([expect.stringContaining("H"), 1])
  } },
  "system-prompt-header": { use: async (session) => {
    await runs(session)
    await session.until(shows("status", "chars"))
  } },
  "timed-confirm": { use: async ({ notices, say }) => {
    await say("/timed")
    expect(notices()).toContain("Cancelled or timed out")
  } },
  "titlebar-spinner": { use: runs },
  "trigger-compact": { use: async ({ say, until }) => {
    await say("hello")
    await say("/trigger-compact")
    await until(shows("notice", "Compaction"))
  } },
  "widget-placement": { answer: () => true, use: async ({ until }) => {
    await until(shows("widget", "Above editor widget"))
    await until(shows("widget", "Below editor widget"))
  } },
  "with-deps": { steps: [call("parse_duration", { duration: "2 days" })], use: async ({ results, say }) => {
    await say("go")
    expect(results()[0]).toContain("172800000")
  } },
  "working-indicator": { use: async ({ notices, say }) => {
    await say("/working-indicator none")
    expect(notices().join()).toMatch(/Working indicator set to/)
  } },
  "working-message-test": { use: runs }
}

const gitIn = (space: Workspace): Session["git"] => {
  const who = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@a", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@a" }
  return (...args) => execFileSync("git", args, { cwd: space.work, env: { ...process.env, HOME: space.home, ...who }, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
}

const drive = async (name: string, { after, answer, args = [], before, ends, env, steps = [], told = [], use }: Drive) => {
  await using stub = await startModelStub([...steps, ...Array.from({ length: 6 }, () => ({ text: "ok" }))])
  await using space = await makeWorkspace()
  const git = gitIn(space)
  await space.file("~/.gitconfig", "[user]\nname = a\nemail = a@a\n")
  before?.(space, git)
  const rpc = startRpc(space, [...anthropic.args, "--yolo", "-e", examples.path(name), ...args], { env: { ...anthropic.env(stub.url), ...env?.(space) } })
  rpc.send("initialize", { ui: true })
  const answered = new Set<unknown>()
  rpc.running.child.stdout!.on("data", () => {
    for (const question of rpc.all().filter(({ method, request_id, type }) => type === "ui_request" && method !== "withdraw" && !answered.has(request_id))) {
      const { request_id } = question
      answered.add(request_id)
      const given = answer?.(question)
      if (given !== undefined) rpc.send("answer", typeof given === "boolean" ? { request_id, confirmed: given } : { request_id, answer: given })
    }
  })
  const textOf = (value: unknown) => JSON.stringify(value ?? "")
  const session: Session = {
    ...rpc, space, stub, git,
    say: (message) => rpc.turn(rpc.send("prompt", { message })),
    notices: () => rpc.all().filter(({ type }) => type === "notice").map(({ message }) => message),
    results: () => rpc.all().filter(({ type }) => type === "tool_result").map(({ output }) => output.trim()),
    request: () => {
      const { messages, system } = stub.requests.at(-1)!.body as Json
      return { system: textOf(system), messages: textOf(messages) }
    }
  }
  await use(session)
  const { code, stdout } = ends ? await rpc.running.ended : await rpc.end()
  const all = records(stdout)
  expect([code, checkRecords(all, { mode: "rpc" })]).toEqual([0, []])
  expect(all.filter(({ level, message, type }) => type === "diagnostic" && level !== "info" && !String(message).includes("replaces the built-in tool") && !String(message).includes("the theme ")).map(({ message }) => message)).toEqual(told.map((part) => expect.stringContaining(part)))
  after?.(session)
}

describe("an example of pi, unmodified, in the program", () => {
  it.each(Object.keys(drives))("%s", async (name) => {
    await drive(name, drives[name]!)
  }, 30_000)

  it("project-trust: asks the person in place of the program", async () => {
    await using space = await makeWorkspace()
    await space.file(".agents/prompts/mark.md", "Say marked.")
    const run = startNimlet({ args: ["--provider", "offline", "-e", examples.path("project-trust"), "list the files"], cwd: space.work, home: space.home, tty: true, holdStdin: true, env: { TERM: "xterm", NO_COLOR: "1" } })
    await run.until((screen) => screen.includes("\n> "))
    run.child.stdin!.write("3\n")
    const { code, stdout } = await run.ended
    expect([code, stdout.includes("Project trust for:"), stdout.includes("Files of this project"), stdout.includes("Project-local resources skipped")]).toEqual([0, true, false, false])
  }, 30_000)

  it("file-trigger: a changed file begins a turn", async () => {
    const file = "/tmp/agent-trigger.txt"
    writeFileSync(file, "")
    try {
      await drive("file-trigger", { use: async ({ ask, request, until }) => {
        await ask("get_state")
        const write = setInterval(() => writeFileSync(file, "look at the tests"), 200)
        try {
          await until(({ role, type }) => type === "message" && role === "assistant")
        } finally {
          clearInterval(write)
        }
        expect(request().messages).toContain("look at the tests")
      } })
    } finally {
      rmSync(file, { force: true })
    }
  }, 30_000)
})
