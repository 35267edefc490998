import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem, PlatformError } from "effect"
import { editTool, lsTool, Operations, readTool, writeTool } from "../src/index.ts"
import { call, inWorkspace, makeFolder } from "./Rig.ts"

const located = (path: string) => Effect.flatMap(Operations, ({ files }) => files.locate(path))
const refusal = (path: string) => Effect.map(Effect.flip(located(path)), (error) => error.message)

describe("Operations on this machine: paths", () => {
  //
  it.effect("a path is resolved against the workspace, with a leading @ or absolute all the same", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("a/b", "")
      const expected = { real: w.at("a/b"), shown: "a/b", exists: true, kind: "file" as const }
      for (const path of ["a/b", "@a/b", "./a/../a/b", w.at("a/b")]) assert.deepStrictEqual(yield* located(path), expected)
      assert.deepStrictEqual(yield* located("."), { real: w.root, shown: ".", exists: true, kind: "directory" as const })
      assert.deepStrictEqual(yield* located("a/new/c"), { real: w.at("a/new/c"), shown: "a/new/c", exists: false })
    })))

  it.effect("a name that really begins with @ is found when nothing has the name without it", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("@scope/x", "")
      assert.strictEqual((yield* located("@scope/x")).shown, "@scope/x")
      assert.strictEqual((yield* located("@new")).shown, "new")
    })))

  it.effect("outside the workspace is refused: by dots, absolute, and through links, existing or not", () =>
    inWorkspace((w) => Effect.gen(function*() {
      const other = yield* makeFolder
      yield* other.put("secret", "s")
      yield* w.link(other.root, "out")
      yield* w.link(other.at("secret"), "file")
      for (const path of ["..", "../x", other.at("secret"), "out", "out/secret", "out/new/x", "file"]) {
        assert.strictEqual(yield* refusal(path), `path is outside the workspace: ${path}`)
      }
      assert.strictEqual((yield* call(readTool, { path: "out/secret" })).text, "path is outside the workspace: out/secret")
      assert.isTrue((yield* call(writeTool, { path: "out/new", content: "x" })).isError)
      assert.deepStrictEqual(yield* other.names("."), ["secret"])
    })))

  it.effect("a link that stays inside is followed, and a workspace opened through a link is the same workspace", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("real/a", "text")
      yield* w.link("real", "alias")
      assert.deepStrictEqual(yield* located("alias/a"), { real: w.at("real/a"), shown: "real/a", exists: true })
      const other = yield* makeFolder
      yield* other.link(w.root, "door")
      assert.strictEqual((yield* located(other.at("door/real/a"))).shown, "real/a")
    })))

  it.effect("a link that leads nowhere yet is written through when it stays inside, and refused when it does not", () =>
    inWorkspace((w) => Effect.gen(function*() {
      const other = yield* makeFolder
      yield* w.link("d/new", "alias")
      yield* w.link("alias", "again")
      yield* w.link("gone", "dir")
      yield* w.link(other.at("new"), "out")
      yield* w.link("loop", "loop")
      assert.include((yield* call(writeTool, { path: "again", content: "x" })).text, "OK — d/new\ncreated")
      assert.strictEqual(yield* w.text("d/new"), "x")
      assert.strictEqual(yield* w.fs.readLink(w.at("alias")), "d/new")
      assert.include((yield* call(writeTool, { path: "dir/f", content: "y" })).text, "OK — gone/f\ncreated")
      assert.strictEqual(yield* w.text("dir/f"), "y")
      for (const path of ["out", "loop"]) assert.isTrue((yield* call(writeTool, { path, content: "x" })).isError, path)
      assert.deepStrictEqual(yield* other.names("."), [])
    })))

  it.effect("writing over a link to a file keeps the link and the file's mode bits", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("d/run.sh", "old")
      yield* w.fs.chmod(w.at("d/run.sh"), 0o751)
      yield* w.link("d/run.sh", "alias")
      yield* call(writeTool, { path: "alias", content: "new", overwrite: true })
      assert.strictEqual(yield* w.fs.readLink(w.at("alias")), "d/run.sh")
      assert.strictEqual(yield* w.text("d/run.sh"), "new")
      assert.strictEqual(yield* w.mode("d/run.sh"), 0o751)
      assert.deepStrictEqual(yield* w.names("d"), ["run.sh"])
    })))

  it.effect("a sibling whose name begins like the workspace's is outside", () =>
    inWorkspace((w) => Effect.gen(function*() {
      assert.include(yield* refusal(`${w.root}-2/x`), "outside")
    })))
})

describe("Operations on this machine: opened files", () => {
  it.effect("a folder that became a link after its path was checked gives and takes no byte", () =>
    inWorkspace((w) => Effect.gen(function*() {
      const other = yield* makeFolder
      yield* other.put("secret", "s")
      yield* w.link(other.root, "out")
      assert.deepStrictEqual(yield* located("out/secret"), { real: w.at("out/secret"), shown: "out/secret", exists: true, kind: "file" })
      assert.include((yield* call(readTool, { path: "out/secret" })).text, "outside the workspace")
      assert.include((yield* call(writeTool, { path: "out/new", content: "x" })).text, "outside the workspace")
      assert.deepStrictEqual(yield* other.names("."), ["secret"])
      // The check of the path is blind to links, as if the link came a moment later.
    }), {}, (fs) => ({ lstat: fs.stat })))

  it.effect("a write that fails leaves the old file and nothing else", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("f", "old")
      const result = yield* call(editTool, { path: "f", old_text: "old", new_text: "new" })
      assert.match(result.text, /^EDIT_FAILED: f: permission denied/)
      assert.strictEqual(yield* w.text("f"), "old")
      assert.deepStrictEqual(yield* w.names("."), ["f"])
    }), {}, () => ({
      rename: () => Effect.fail(PlatformError.systemError({ _tag: "PermissionDenied", module: "FileSystem", method: "rename" }))
    })))

  it.effect("what is put in place was flushed first, and readable by its owner alone until its mode bits are set", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      yield* inWorkspace((w) => Effect.gen(function*() {
        yield* w.put("f", "old")
        yield* w.fs.chmod(w.at("f"), 0o640)
        yield* call(editTool, { path: "f", old_text: "old", new_text: "new" })
        assert.strictEqual(yield* w.mode("f"), 0o640)
        assert.deepStrictEqual(seen, ["open 600", "write", "chmod", "sync", "rename"])
      }), {}, (fs) => {
        const note = <A, E, R>(what: string, self: Effect.Effect<A, E, R>) => Effect.andThen(Effect.sync(() => { seen.push(what) }), self)
        return {
          open: (path, options) => options?.flag !== "wx" ? fs.open(path, options) : note(`open ${options.mode?.toString(8)}`,
            Effect.map(fs.open(path, options), (file) => ({
              ...file,
              stat: file.stat,
              writeAll: (bytes) => note("write", file.writeAll(bytes)),
              sync: note("sync", file.sync)
            }))),
          chmod: (path, mode) => note("chmod", fs.chmod(path, mode)),
          rename: (from, to) => note("rename", fs.rename(from, to))
        }
      })
    }))

  it.effect("where no file can be made beside the old one, the reason is told and nothing changes", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("f", "old")
      const result = yield* call(writeTool, { path: "f", content: "new", overwrite: true })
      assert.strictEqual(result.text, "f: cannot be written, because no new file can be made in its folder (permission denied)")
      assert.strictEqual(yield* w.text("f"), "old")
    }), {}, (fs) => ({
      open: (path, options) => options?.flag === "wx"
        ? Effect.fail(PlatformError.systemError({ _tag: "PermissionDenied", module: "FileSystem", method: "open" }))
        : fs.open(path, options)
    })))

  it.effect("a folder that became a link while it was listed is not shown", () =>
    inWorkspace((w) => Effect.gen(function*() {
      const other = yield* makeFolder
      yield* other.put("secret", "s")
      yield* w.link(other.root, "out")
      assert.include((yield* call(lsTool, { path: "out" })).text, "outside the workspace")
    }), {}, (fs) => ({ lstat: fs.stat })))

  it.effect("spill files are bounded in number and gone at the end", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const paths = yield* inWorkspace(() => Effect.gen(function*() {
        const { files } = yield* Operations
        const paths = yield* Effect.forEach(Array.from({ length: 22 }), () => Effect.scoped(Effect.map(files.spill("bash"), ({ path }) => path)))
        assert.deepStrictEqual(yield* Effect.forEach(paths, fs.exists), paths.map((_, index) => index >= 2))
        return paths
      }))
      assert.isFalse(yield* fs.exists(paths[21]!))
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("a write-protected file is not replaced behind its back", () =>
    inWorkspace((w) => Effect.gen(function*() {
      yield* w.put("f", "old")
      assert.include((yield* call(writeTool, { path: "f", content: "new", overwrite: true })).text, "permission denied")
      assert.strictEqual(yield* w.text("f"), "old")
    }), {}, (fs) => ({
      access: (path, options) => options?.writable === true
        ? Effect.fail(PlatformError.systemError({ _tag: "PermissionDenied", module: "FileSystem", method: "access" }))
        : fs.access(path, options)
    })))
})
