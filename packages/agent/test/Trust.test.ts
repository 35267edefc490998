import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { makeProjectGrants } from "../src/PermissionsFile.ts"
import { Effect, FileSystem, Path } from "effect"
import { makeTrust, type TrustState } from "../src/Trust.ts"

/** A workspace and a home in a folder of their own. */
const inSpace = <A, E>(body: (space: {
  readonly root: string
  readonly write: (path: string, text: string) => Effect.Effect<void>
  readonly trust: (options?: { readonly at?: string; readonly says?: boolean; readonly forgets?: true; readonly answer?: boolean; readonly home?: string }) => Effect.Effect<TrustState, never, FileSystem.FileSystem | Path.Path>
  readonly asked: Array<TrustState>
  readonly store: string
}) => Effect.Effect<A, E, FileSystem.FileSystem | Path.Path>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const root = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
    const asked: Array<TrustState> = []
    const store = path.join(root, "home/.nimlet/trust.json")
    const write = (to: string, text: string) => {
      const file = path.join(root, to)
      return Effect.orDie(Effect.andThen(fs.makeDirectory(path.dirname(file), { recursive: true }), fs.writeFileString(file, text)))
    }
    yield* write("home/x", "")
    yield* write("work/x", "")
    return yield* body({
      root,
      write,
      asked,
      store,
      trust: ({ answer, at = "work", forgets, home = "home", says } = {}) =>
        Effect.flatMap(makeTrust({
          file: store,
          home: path.join(root, home),
          workspace: path.join(root, at),
          extensions: [".nimlet/extensions", ".pi/extensions"],
          ...(answer === undefined ? {} : { answer }),
          ...(says === undefined ? {} : { ask: (state) => Effect.sync(() => (asked.push(state), { trusted: says, remember: forgets !== true })) })
        }), ({ resolve }) => resolve)
    })
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

const changed = ({ changes }: TrustState) => changes.map(({ change, path }) => `${change} ${path}`)

describe("the files of a project that can act", () => {
  it.effect("are its settings, prompts, skills, tools and extensions, with the programs these name; nothing else", () =>
    inSpace(({ trust, write }) =>
      Effect.gen(function*() {
        const acting = [
          ".agent/tools/t/run.sh", ".agent/tools/t/tool.json", ".agents/prompts/a.md", ".agents/skills/s/SKILL.md", ".nimlet/APPEND_SYSTEM.md", ".nimlet/SYSTEM.md",
          ".nimlet/config.json", ".nimlet/extensions/e/bin/run.py", ".nimlet/extensions/e/extension.json", ".nimlet/extensions/e/guard.mjs", ".nimlet/permissions.json",
          ".pi/extensions/one.ts", ".pi/extensions/two/package.json", ".pi/extensions/two/parts/main.ts",
          "outside.py", "scripts/tool.sh"
        ]
        for (const path of acting) yield* write(`work/${path}`, path)
        yield* write("work/.nimlet/extensions/e/extension.json", `{"name":"e","command":["python3","./bin/run.py","../../../outside.py"]}`)
        yield* write("work/.agent/tools/t/tool.json", `{"command":["run.sh","scripts/tool.sh","../../../../beyond.sh","../../.."],"description":"x"}`)
        yield* write("work/.pi/extensions/two/package.json", `{"pi":{"extensions":["./parts"]}}`)
        yield* write("beyond.sh", "")
        for (const path of ["AGENTS.md", "main.ts", "x", ".nimlet/extensions/e/README.md", ".nimlet/notes.txt", ".agents/prompts/a.txt", ".pi/extensions/two/parts/notes.md"]) yield* write(`work/${path}`, path)
        assert.deepStrictEqual((yield* trust()).files.map(({ path }) => path), acting)
      })))

  it.effect("of nobody but the person are no question: an empty project, and their own home", () =>
    inSpace(({ asked, trust, write }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* trust({ says: true }), { trusted: false, decided: false, files: [], changes: [], faults: [] })
        assert.isTrue((yield* trust({ answer: true })).trusted)
        yield* write("work/.nimlet/config.json", "{}")
        assert.deepStrictEqual((yield* trust({ home: "work", says: true })).files, [])
        assert.deepStrictEqual(asked, [])
      })))
})

describe("trust", () => {
  it.effect("is asked for once, and again for what is new or changed, which the question names", () =>
    inSpace(({ asked, trust, write }) =>
      Effect.gen(function*() {
        yield* write("work/.nimlet/config.json", "{}")
        assert.isFalse((yield* trust()).trusted)
        assert.isTrue((yield* trust({ says: true })).trusted)
        assert.isTrue((yield* trust()).trusted)
        yield* write("work/.nimlet/config.json", `{"a":1}`)
        yield* write("work/.nimlet/SYSTEM.md", "be bad")
        assert.isFalse((yield* trust()).trusted)
        assert.isFalse((yield* trust({ says: false })).trusted)
        assert.deepStrictEqual(asked.map(changed), [["new .nimlet/config.json"], ["new .nimlet/SYSTEM.md", "changed .nimlet/config.json"]])
        // A no is remembered, too, until something else changes.
        assert.isFalse((yield* trust({ says: true })).trusted)
        assert.lengthOf(asked, 2)
        yield* write("work/.nimlet/SYSTEM.md", "be good")
        assert.isTrue((yield* trust({ says: true })).trusted)
      })))

  it.effect("for one run saves nothing", () =>
    inSpace(({ asked, store, trust, write }) =>
      Effect.gen(function*() {
        yield* write("work/.nimlet/config.json", "{}")
        assert.isTrue((yield* trust({ answer: true, says: false })).trusted)
        assert.isFalse((yield* trust({ answer: false, says: true })).trusted)
        assert.isFalse((yield* trust()).trusted)
        assert.deepStrictEqual(asked, [])
        assert.isFalse(yield* (yield* FileSystem.FileSystem).exists(store))
      })))

  it.effect("is kept in a file of the person's own, beside what stands there; one that is not understood is left alone", () =>
    inSpace(({ store, trust, write }) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        yield* write("work/.nimlet/config.json", "{}")
        yield* write("home/.nimlet/trust.json", `{"projects":{"/other":true}}`)
        yield* trust({ says: true })
        assert.strictEqual((yield* fs.stat(store)).mode & 0o777, 0o600)
        assert.isTrue(JSON.parse(yield* fs.readFileString(store)).projects["/other"])
        yield* write("home/.nimlet/trust.json", "not json")
        assert.isFalse((yield* trust()).trusted)
        assert.isTrue((yield* trust({ says: true })).trusted)
        assert.strictEqual(yield* fs.readFileString(store), "not json")
      })))

  const worktree = Effect.fnUntraced(function*(root: string, write: (path: string, text: string) => Effect.Effect<void>, name: string, record: string) {
    yield* write(`${name}/.git`, `gitdir: ${root}/work/.git/worktrees/${name}\n`)
    if (record !== "") yield* write(`work/.git/worktrees/${name}/gitdir`, `${root}/${record}/.git\n`)
  })

  it.effect("holds in another worktree of the repository with the same files, and in none that only says it is one", () =>
    inSpace(({ root, trust, write }) =>
      Effect.gen(function*() {
        yield* write("work/.git/HEAD", "ref: refs/heads/main")
        for (const place of ["work", "tree", "liar", "copy"]) yield* write(`${place}/sub/.nimlet/config.json`, "{}")
        yield* worktree(root, write, "tree", "tree")
        yield* worktree(root, write, "liar", "tree")
        yield* write("copy/.git/HEAD", "ref: refs/heads/main")
        yield* trust({ at: "work/sub", says: true })
        assert.isTrue((yield* trust({ at: "tree/sub" })).trusted)
        assert.isFalse((yield* trust({ at: "liar/sub" })).trusted)
        assert.isFalse((yield* trust({ at: "copy/sub" })).trusted)
        yield* write("tree/sub/.nimlet/SYSTEM.md", "x")
        assert.isFalse((yield* trust({ at: "tree/sub" })).trusted)
        // Another folder of the same repository is another project.
        yield* write("tree/.nimlet/config.json", "{}")
        assert.isFalse((yield* trust({ at: "tree" })).trusted)
      })))

  it.effect("waits for no pipe that stands where a file should", () =>
    inSpace(({ root, trust, write }) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        yield* write("work/.nimlet/config.json", "{}")
        yield* write("work/.git", `gitdir: ${root}/work/own/worktrees/x\n`)
        for (const pipe of ["work/own/worktrees/x/gitdir", "work/.nimlet/SYSTEM.md", "work/.nimlet/permissions.json"]) {
          yield* fs.makeDirectory(`${root}/${pipe}`.replace(/[^/]*$/, ""), { recursive: true })
          execFileSync("mkfifo", [`${root}/${pipe}`])
        }
        assert.isFalse((yield* trust({ says: false })).trusted)
        const approved = yield* makeTrust({ file: `${root}/t.json`, home: `${root}/home`, workspace: `${root}/work`, extensions: [], answer: true })
        yield* approved.resolve
        assert.deepStrictEqual(yield* (yield* makeProjectGrants(`${root}/work`, approved)).allowed, [])
      })))

  it.effect("does not follow a link into another repository", () =>
    inSpace(({ root, trust, write }) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        yield* write("work/.git/HEAD", "")
        for (const place of ["work", "evil"]) yield* write(`${place}/.nimlet/config.json`, "{}")
        yield* fs.symlink(`${root}/work/.git`, `${root}/evil/.git`)
        yield* trust({ says: true })
        assert.isFalse((yield* trust({ at: "evil" })).trusted)
      })))

  it.effect("that is not to be remembered holds for the run alone, with what is written for the person meanwhile", () =>
    inSpace(({ asked, root, store, trust, write }) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        yield* write("work/.nimlet/config.json", "{}")
        const one = yield* makeTrust({
          file: store, home: `${root}/home`, workspace: `${root}/work`, extensions: [], ask: (state) => Effect.sync(() => (asked.push(state), { trusted: true, remember: false }))
        })
        assert.isTrue((yield* one.resolve).trusted)
        yield* write("work/.nimlet/permissions.json", "{}")
        yield* one.wrote(".nimlet/permissions.json")
        assert.isTrue((yield* one.resolve).trusted)
        assert.lengthOf(asked, 1)
        assert.isFalse(yield* fs.exists(store))
        assert.isFalse((yield* trust()).trusted)
        yield* trust({ says: false, forgets: true })
        assert.isFalse(yield* fs.exists(store))
        // What the person says themselves is kept.
        yield* one.set(true)
        assert.isTrue((yield* trust()).trusted)
      })))

  it.effect("covers a file that was written for the person, and not one that came beside it", () =>
    inSpace(({ root, store, trust, write }) =>
      Effect.gen(function*() {
        yield* write("work/.nimlet/config.json", "{}")
        const one = yield* makeTrust({ file: store, home: `${root}/home`, workspace: `${root}/work`, extensions: [], ask: () => Effect.succeed({ trusted: true, remember: true }) })
        yield* one.resolve
        yield* write("work/.nimlet/permissions.json", "{}")
        yield* one.wrote(".nimlet/permissions.json")
        assert.isTrue((yield* trust()).trusted)
        yield* write("work/.nimlet/SYSTEM.md", "x")
        yield* write("work/.nimlet/permissions.json", `{"allow":[]}`)
        yield* one.wrote(".nimlet/permissions.json")
        assert.deepStrictEqual(changed(yield* trust()), ["new .nimlet/SYSTEM.md"])
      })))
})
