import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Option } from "effect"
import { type Approval, type ApprovalRequest, type ExtensionTool, Frontend, headless } from "@nimlet/extension"
import { makePermissions, type PermissionOptions } from "../src/Permissions.ts"
import { makeProjectGrants } from "../src/PermissionsFile.ts"
import { isProtected, mayBeProtected } from "../src/ProtectedPaths.ts"
import { makeTrust } from "../src/Trust.ts"
import { calls, says, tool, withAgent } from "./Rig.ts"

const bash = (command: string) => [{ tool: tool("bash", { capabilities: ["write", "shell", "network"] }) }, { command }] as const

/** Asks about each command with a person who gives these answers in turn; tells what was asked. */
const asking = Effect.fnUntraced(function*(
  options: PermissionOptions,
  answers: ReadonlyArray<Approval["decision"]>,
  body: (check: (command: string) => Effect.Effect<boolean>) => Effect.Effect<unknown>,
  interactive = true
) {
  const asked: Array<ApprovalRequest> = []
  const notices: Array<string> = []
  const permissions = yield* makePermissions(options)
  const frontend = {
    ...headless,
    interactive,
    approve: (request: ApprovalRequest) =>
      Effect.sync((): Approval => {
        const decision = answers[asked.length] ?? "deny"
        asked.push(request)
        return decision === "deny" ? { decision, reason: "no" } : { decision }
      }).pipe(Effect.tap(Effect.yieldNow)),
    notify: (_: unknown, message: string) => Effect.sync(() => void notices.push(message))
  }
  yield* Effect.provideService(body((command) => Effect.map(permissions.check(...bash(command)), Option.isNone)), Frontend, frontend)
  return { asked, notices, remembered: yield* permissions.remembered, permissions, frontend }
})
const each = (...commands: ReadonlyArray<string>) => (check: (command: string) => Effect.Effect<boolean>) => Effect.forEach(commands, check)

describe("an answer about a command", () => {
  it.effect("holds for its simple commands, in whatever they stand, and for no other", () =>
    Effect.gen(function*() {
      const { asked } = yield* asking({}, ["session", "session", "once"], each("git status && npm test", "npm  test; git status", "git status; ls", "ls", "git status; touch P"))
      assert.deepStrictEqual(asked.map(({ summary }) => summary), ["git status && npm test", "git status; ls", "git status; touch P"])
    }))

  it.effect("for once is not remembered, nor one about a command that destroys, whatever was answered", () =>
    Effect.gen(function*() {
      const { asked, remembered } = yield* asking({}, ["once", "once", "session", "session"], each("ls", "ls", "rm x", "rm x"))
      assert.deepStrictEqual(asked.map(({ canRemember }) => canRemember), [true, true, false, false])
      assert.deepStrictEqual(remembered, [])
    }))

  it.effect("answers the same question that waits behind it", () =>
    Effect.gen(function*() {
      const { asked } = yield* asking({}, ["session"], (check) => Effect.all([check("ls"), check("ls")], { concurrency: 2 }))
      assert.lengthOf(asked, 1)
    }))

  it.effect("is nobody's where nobody can be asked: it runs, and nothing is remembered", () =>
    Effect.gen(function*() {
      const { asked, remembered } = yield* asking({}, ["session", "session"], each("ls", "ls"), false)
      assert.deepStrictEqual(asked.map(({ canRemember }) => canRemember), [false, false])
      assert.deepStrictEqual(remembered, [])
    }))

  it.effect("is not wanted with yolo", () =>
    Effect.map(asking({ unasked: () => true }, [], each("rm -rf x")), ({ asked }) => assert.deepStrictEqual(asked, [])))
})

describe("an answer for the project", () => {
  const inProject = <A, E>(body: (space: { readonly file: string; readonly options: (answer?: boolean) => Effect.Effect<PermissionOptions, never, NodeServices.NodeServices> }) => Effect.Effect<A, E, NodeServices.NodeServices>) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const root = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
      yield* fs.makeDirectory(`${root}/work`)
      const options = Effect.fnUntraced(function*(answer?: boolean) {
        const trust = yield* makeTrust({ file: `${root}/trust.json`, home: root, workspace: `${root}/work`, extensions: [], ...(answer === undefined ? {} : { answer }) })
        if (answer === undefined && !(yield* fs.exists(`${root}/trust.json`))) yield* trust.set(true)
        yield* trust.resolve
        return { grants: yield* makeProjectGrants(`${root}/work`, trust) }
      }, Effect.orDie)
      return yield* body({ file: `${root}/work/.nimlet/permissions.json`, options })
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

  it.effect("holds in the next run, which needs no new trust for it", () =>
    inProject(({ file, options }) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        yield* asking(yield* options(), ["project", "project"], each("git status", "npm test"))
        assert.deepStrictEqual(JSON.parse(yield* fs.readFileString(file)), { allow: ["bash:git status", "bash:npm test"] })
        const { asked } = yield* asking(yield* options(), [], each("npm test && git status", "ls"))
        assert.deepStrictEqual(asked.map(({ project, summary }) => [summary, project]), [["ls", true]])
      })))

  it.effect("does not hold when the file was written by anybody else, also while we run", () =>
    inProject(({ file, options }) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const trusted = yield* options()
        yield* asking(trusted, ["project"], each("git status"))
        yield* fs.writeFileString(file, `{"allow":["bash:touch P"]}`)
        const { asked, notices } = yield* asking(trusted, ["project"], each("touch P"))
        assert.lengthOf(asked, 1)
        assert.lengthOf(notices, 1)
        const { asked: again } = yield* asking(yield* options(), ["session"], each("touch P"))
        assert.deepStrictEqual(again.map(({ project }) => project), [undefined])
      })))

  it.effect("is for the session only where the project is not trusted", () =>
    inProject(({ file, options }) =>
      Effect.gen(function*() {
        const { asked, notices, remembered } = yield* asking(yield* options(false), ["project"], each("git status", "git status"))
        assert.lengthOf(asked, 1)
        assert.lengthOf(notices, 1)
        assert.deepStrictEqual(remembered, ["bash:git status"])
        assert.isFalse(yield* (yield* FileSystem.FileSystem).exists(file))
      })))
})

describe("a file that decides what runs later", () => {
  it("is git's own, ours, or one that is loaded from, wherever it lies", () => {
    for (const path of ["/w/.git/hooks/pre-commit", "/w/.git", "/home/me/.nimlet/config.json", "/w/sub/.GIT/config", "/w/.pi/extensions/x.ts", "/w/.agents/skills/s/SKILL.md", "C:\\w\\.git\\config", "/home/me/.gitconfig", "/home/me/.config/git/config"]) {
      assert.isTrue(isProtected(path, [".pi/extensions"]), path)
    }
    for (const path of ["/w/.gitignore", "/w/.github/workflows/x.yml", "/w/src/git/x.ts", "/w/.pi/notes.md", "/w/nimlet/x"]) assert.isFalse(isProtected(path, [".pi/extensions"]), path)
  })

  const write = (interactive: boolean, decision: "once" | "session") => {
    const asked: Array<ApprovalRequest> = []
    const protectedPath = (path: string) => Effect.succeed(path.includes(".git/") ? Option.some(path) : Option.none())
    return withAgent({
      replies: [calls({ name: "write", args: { path: ".git/config", content: "evil\n" } }, { name: "write", args: { path: "a.txt", content: "" }, id: "2" }), calls({ name: "write", args: { path: ".git/config" }, id: "3" }), says("done")],
      tools: [tool("write")],
      agent: { permissions: { protectedPath }, yolo: true },
      frontend: { interactive, approve: (request) => Effect.sync(() => (asked.push(request), { decision })) }
    }, ({ entries, prompt }) =>
      Effect.gen(function*() {
        yield* prompt("go")
        return { asked, outputs: (yield* entries).flatMap((entry) => entry.type === "tool_result" && "output" in entry ? [entry.output] : []) }
      }))
  }

  it.effect("is changed after a yes only, which is never remembered, also with yolo; the question shows the change", () =>
    Effect.gen(function*() {
      const { asked, outputs } = yield* write(true, "session")
      assert.deepStrictEqual(asked.map(({ canRemember, preview, summary }) => [summary, preview, canRemember]), [[".git/config", "+evil", false], [".git/config", "", false]])
      assert.deepStrictEqual(outputs, ["write ran", "write ran", "write ran"])
    }))

  it.effect("is not changed where nobody can be asked", () =>
    Effect.gen(function*() {
      const { asked, outputs } = yield* write(false, "once")
      assert.deepStrictEqual(asked, [])
      assert.match(outputs[0]!, /^approval_denied: \.git\/config is protected/)
      assert.strictEqual(outputs[1], "write ran")
    }))
})

describe("a command that would change such a file", () => {
  const options: PermissionOptions = {
    protectedPath: (path) => Effect.succeed(path.startsWith("link/") ? Option.some(path.replace("link", ".git")) : Option.none()),
    mayBeProtected: (word, whole) => mayBeProtected(word, [], whole)
  }

  it.effect("is asked about every time, whatever was allowed before, and the question names the file", () =>
    Effect.gen(function*() {
      const commands = ["touch .git/x", "touch .git/x", "touch link/x", "node e.mjs .git/x", "cat .git/x", "cat .git/x"]
      const grants = { allowed: Effect.succeed(commands.map((command) => `bash:${command}`)), remember: Effect.undefined }
      const { asked } = yield* asking({ ...options, grants }, ["session", "project", "once", "session"], each(...commands))
      assert.deepStrictEqual(asked.map(({ canRemember, project, reason }) => [reason?.split(",")[0], canRemember, project]), [
        ["it changes .git/x", false, undefined], ["it changes .git/x", false, undefined], ["it changes .git/x", false, undefined], ["it may change .git/x", false, undefined]
      ])
    }))

  it.effect("is refused where nobody can be asked, also when it only may; one that only reads it runs", () =>
    Effect.gen(function*() {
      const { asked } = yield* asking(options, ["once"], (check) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(yield* Effect.forEach(["touch .git/x", "echo x > link/x", "sh -c 'rm .git/x'", "node e.mjs .git/x", "node e.mjs link/x"], check), [false, false, false, false, false])
          assert.isTrue(yield* check("cat .git/x link/x"))
        }), false)
      assert.lengthOf(asked, 1)
    }))

  it.effect("is asked about with yolo, too", () =>
    Effect.gen(function*() {
      const { asked } = yield* asking({ ...options, unasked: () => true }, ["once", "once"], each("rm .git/x", "node e.mjs .git/x", "rm x"))
      assert.deepStrictEqual(asked.map(({ summary }) => summary), ["rm .git/x", "node e.mjs .git/x"])
    }))
})

describe("a tool that only reads", () => {
  const extensionTool = (unasked: boolean): ExtensionTool => ({ name: "look", description: "", inputSchema: { type: "object" }, capabilities: ["read"], unasked, extension: "x" })

  it.effect("is not asked about when it is built in, or its family says so; else the first time, by its name", () =>
    Effect.gen(function*() {
      for (const unasked of [true, false]) {
        const asked: Array<string> = []
        yield* withAgent({
          replies: [calls({ name: "git" }, { name: "look" }), calls({ name: "look", id: "2" }), says("done")],
          tools: [tool("git", { capabilities: ["read"] })],
          extensionTools: [extensionTool(unasked)],
          frontend: { interactive: true, approve: (request) => Effect.sync(() => (asked.push(request.tool), { decision: "session" })) }
        }, ({ prompt }) => prompt("go"))
        assert.deepStrictEqual(asked, unasked ? [] : ["look"])
      }
    }))
})

describe("commands about permission", () => {
  it.effect("tell and forget what was allowed, and switch all questions off", () => {
    const asked: Array<string> = []
    return withAgent({
      replies: () => says("x"),
      tools: [tool("bash")],
      agent: {},
      frontend: { interactive: true, approve: (request) => Effect.sync(() => (asked.push(request.summary), { decision: "session" })) }
    }, ({ prompt }) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* prompt("/permissions")).text, "Nothing is remembered.")
        assert.strictEqual((yield* prompt("/yolo")).text, "Calls are asked about.")
        assert.strictEqual((yield* prompt("/yolo on")).text, "Calls run without a question.")
        assert.strictEqual((yield* prompt("/yolo off")).text, "Calls are asked about.")
        for (const wrong of ["/yolo maybe", "/permissions all", "/trust"]) assert.isFalse((yield* prompt(wrong)).success, wrong)
      }))
  })
})
