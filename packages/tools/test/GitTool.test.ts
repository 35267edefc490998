import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { gitTool, layerLocal } from "../src/index.ts"
import type { ProcessRequest } from "../src/index.ts"
import type { Folder } from "./Rig.ts"
import { call, fakeOperations, inWorkspace, makeFolder } from "./Rig.ts"

const git = (args: { [key: string]: unknown } = {}) => call(gitTool(), args)

/** What git itself says, with an identity and nothing of the user's. */
const output = (w: Folder, args: ReadonlyArray<string>, input = "") =>
  Effect.sync(() =>
    execFileSync("git", ["-c", "user.name=Ann", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main", ...args], {
      cwd: w.root,
      env: { PATH: process.env["PATH"], HOME: w.root },
      encoding: "utf8",
      input
    })
  )
const run = (w: Folder, ...args: ReadonlyArray<string>) => output(w, args)

const inRepository = <A, E, R>(body: (w: Folder) => Effect.Effect<A, E, R>) =>
  inWorkspace((w) => Effect.gen(function*() {
    yield* run(w, "init", "-q")
    yield* w.put("a.txt", "one\n")
    yield* run(w, "add", ".")
    yield* run(w, "commit", "-qm", "first")
    yield* w.put("a.txt", "one\ntwo\n")
    return yield* body(w)
  }))

describe("git", () => {
  it.live("shows status by default, and log, show, diff, blame", () =>
    inRepository(() => Effect.gen(function*() {
      assert.strictEqual((yield* git()).text, "## main\n M a.txt\n")
      assert.match((yield* git({ operation: "log" })).text, /^[0-9a-f]{7,} \d{4}-\d\d-\d\d Ann: first\n$/)
      assert.include((yield* git({ operation: "show", commit: "HEAD" })).text, "+one")
      assert.include((yield* git({ operation: "diff", path: "a.txt" })).text, "+two")
      assert.include((yield* git({ operation: "blame", path: "a.txt", commit: "HEAD" })).text, "one")
    })))

  it.live("refuses options in place of a commit, a path outside and blame without one", () =>
    inRepository(() => Effect.gen(function*() {
      for (const args of [
        { operation: "diff", commit: "--output=stolen" },
        { operation: "log", path: "../x" },
        { operation: "blame" },
        { operation: "push" },
        { operation: "show", commit: "nothing-of-this-name" }
      ]) assert.isTrue((yield* git(args)).isError, JSON.stringify(args))
    })))

  it.live("limits log and output", () =>
    inRepository((w) => Effect.gen(function*() {
      for (let i = 0; i < 3; i++) yield* run(w, "commit", "-q", "--allow-empty", "-m", `more ${i}`)
      assert.strictEqual((yield* git({ operation: "log", limit: 2 })).text.trimEnd().split("\n").length, 2)
      yield* w.put("a.txt", "a long line of text\n".repeat(20_000))
      const { text } = yield* git({ operation: "diff" })
      assert.isAtMost(Buffer.byteLength(text), 51_200)
      assert.match(text, /\[cut at the limit/)
    })))

  it.live("runs no program that the repository's configuration or attributes name", () =>
    inRepository((w) => Effect.gen(function*() {
      const trap = `sh -c 'touch "${w.root}/ran-$0"' `
      for (const [key, name] of [
        ["core.fsmonitor", "monitor"], ["diff.external", "external"], ["core.pager", "pager"],
        ["diff.odd.command", "driver"], ["diff.odd.textconv", "textconv"], ["filter.odd.clean", "clean"], ["filter.odd.process", "process"]
      ] as const) yield* run(w, "config", key, trap + name)
      // A signed commit: only for such a one would git look for the program that checks signatures.
      const commit = (yield* output(w, ["cat-file", "commit", "HEAD"])).replace("\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n")
      const signed = (yield* output(w, ["hash-object", "-t", "commit", "-w", "--stdin"], commit)).trim()
      yield* run(w, "update-ref", "HEAD", signed)
      yield* w.put(".git/check", `#!/bin/sh\ntouch "${w.root}/ran-gpg"\n`)
      yield* w.fs.chmod(w.at(".git/check"), 0o755)
      yield* run(w, "config", "gpg.program", w.at(".git/check"))
      yield* run(w, "config", "log.showSignature", "true")
      yield* run(w, "config", "format.pretty", "%G?")
      yield* run(w, "config", "filter.odd.required", "true")
      yield* w.put(".gitattributes", "* diff=odd filter=odd\n")
      for (const operation of ["status", "log", "show", "diff", "blame"]) {
        yield* git({ operation, path: operation === "blame" ? "a.txt" : undefined })
      }
      assert.deepStrictEqual((yield* w.names(".")).filter((name) => name.startsWith("ran-")), [])
      assert.include((yield* git({ operation: "diff" })).text, "+two")
    })))

  it.live("an environment that would run a program, write a file or point elsewhere has no effect", () =>
    inRepository((w) => Effect.gen(function*() {
      const trap = (name: string) => `sh -c 'touch "${w.root}/ran-${name}"'`
      yield* run(w, "init", "-q", "elsewhere")
      const env = {
        PATH: process.env["PATH"] ?? "", HOME: w.root, PAGER: trap("pager"), EDITOR: trap("editor"),
        GIT_PAGER: trap("git-pager"), GIT_EXTERNAL_DIFF: trap("external"), GIT_DIR: w.at("elsewhere/.git"), GIT_INDEX_FILE: w.at("made-index"),
        GIT_TRACE: w.at("made-trace"), GIT_TRACE2_EVENT: w.at("made-trace2"), GIT_EXEC_PATH: w.root,
        GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "core.fsmonitor", GIT_CONFIG_VALUE_0: trap("fsmonitor"),
        GIT_CONFIG_PARAMETERS: `'diff.external=${trap("parameters")}'`
      }
      const before = yield* w.names(".")
      const outer = Object.entries(env).filter(([name]) => name.startsWith("GIT_"))
      for (const [name, value] of outer) process.env[name] = value
      yield* Effect.addFinalizer(() => Effect.sync(() => { for (const [name] of outer) delete process.env[name] }))
      for (const tool of [gitTool({ env }), gitTool()]) {
        for (const operation of ["status", "log", "show", "diff", "blame"]) {
          const result = yield* call(tool, operation === "blame" ? { operation, path: "a.txt" } : { operation })
          assert.isFalse(result.isError, `${operation}: ${result.text}`)
        }
      }
      assert.deepStrictEqual(yield* w.names("."), before)
      assert.include((yield* call(gitTool({ env }), { operation: "diff" })).text, "+two")
    })))

  it.effect("of an environment that is given it takes no name of git's own, known or not", () =>
    Effect.gen(function*() {
      const seen: Array<ProcessRequest["env"]> = []
      yield* call(gitTool({ env: { HOME: "/h", GIT_UNHEARD_OF: "1", GIT_PAGER: "less" } }), { operation: "log" }).pipe(
        Effect.provide(fakeOperations(({ env, extendEnv }) => {
          assert.isFalse(extendEnv)
          seen.push(env)
          return Effect.succeed({ code: 0, background: false, left: [] })
        }, { locate: () => Effect.succeed({ real: "/w", shown: ".", exists: true }) }))
      )
      const set = Object.entries(seen[0] ?? {}).filter(([, value]) => value !== undefined).map(([name]) => name)
      assert.deepStrictEqual(set.sort(), ["GIT_ALLOW_PROTOCOL", "GIT_LITERAL_PATHSPECS", "GIT_NO_LAZY_FETCH", "GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT", "HOME"])
    }))

  it.live("a repository that says its files lie elsewhere shows none of them", () =>
    inRepository((w) => Effect.gen(function*() {
      const other = yield* makeFolder
      yield* other.put("a.txt", "secret\n")
      for (const folder of [other.root, "/"]) {
        yield* run(w, "config", "core.worktree", folder)
        for (const operation of ["status", "diff", "blame"]) {
          const { text } = yield* git({ operation, path: operation === "blame" ? "a.txt" : undefined })
          assert.notInclude(text, "secret")
          assert.notInclude(text, "etc")
        }
      }
      yield* run(w, "config", "core.worktree", other.root)
      assert.include((yield* git({ operation: "diff" })).text, "puts its files outside the workspace")
      yield* run(w, "config", "core.worktree", w.root)
      assert.include((yield* git({ operation: "diff" })).text, "+two")
    })))

  it.live("of a workspace within a repository it shows what changed in the workspace, and all of the history", () =>
    Effect.gen(function*() {
      const outer = yield* makeFolder
      yield* run(outer, "init", "-q")
      yield* outer.put("secret", "old\n")
      yield* outer.put("inner/f", "old\n")
      yield* run(outer, "add", ".")
      yield* run(outer, "commit", "-qm", "both")
      yield* outer.put("secret", "new\n")
      yield* outer.put("inner/f", "new\n")
      const { diff, show, status } = yield* Effect.all({ status: git(), diff: git({ operation: "diff" }), show: git({ operation: "show" }) }).pipe(
        Effect.provide(layerLocal({ workspace: outer.at("inner") }))
      )
      assert.strictEqual(status.text, "## main\n M f\n")
      assert.notInclude(diff.text, "secret")
      assert.include(diff.text, "+new")
      assert.include(show.text, "secret")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  it.live("a path is a plain name, whatever it looks like to git", () =>
    inRepository((w) => Effect.gen(function*() {
      for (const name of [":(top)a.txt", "--output=stolen", "*", "ä b"]) yield* w.put(name, "x\n")
      yield* run(w, "--literal-pathspecs", "add", "--", ":(top)a.txt", "--output=stolen", "*", "ä b")
      assert.strictEqual((yield* git({ path: ":(top)a.txt" })).text, "## main\nA  :(top)a.txt\n")
      assert.strictEqual((yield* git({ path: "*" })).text, "## main\nA  *\n")
      assert.strictEqual((yield* git({ path: "ä b" })).text, '## main\nA  "ä b"\n')
      assert.isFalse((yield* git({ operation: "diff", path: "--output=stolen" })).isError)
      assert.isFalse(yield* w.fs.exists(w.at("stolen")))
    })))

  it.live("takes no lock, so that it never stands in the way of a git that writes", () =>
    inRepository((w) => Effect.gen(function*() {
      yield* w.put(".git/index.lock", "")
      assert.strictEqual((yield* git()).text, "## main\n M a.txt\n")
    })))

  it.live("outside a repository it gives git's reason", () =>
    inWorkspace(() => Effect.gen(function*() {
      const result = yield* git()
      assert.isTrue(result.isError)
      assert.include(result.text, "not a git repository")
    })))
})
