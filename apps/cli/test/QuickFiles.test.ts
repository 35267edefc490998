import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { Effect, Exit, FileSystem, Option, type PlatformError } from "effect"
import { quickFiles } from "../src/QuickFiles.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

/** The platform's files, ours over them, and a folder. */
const inFolder = <A, E>(body: (its: {
  readonly platform: FileSystem.FileSystem
  readonly quick: FileSystem.FileSystem
  readonly at: (name: string) => string
}) => Effect.Effect<A, E, import("effect").Scope.Scope>) =>
  Effect.gen(function*() {
    const platform = yield* FileSystem.FileSystem
    const folder = yield* platform.makeTempDirectoryScoped()
    return yield* body({ platform, quick: quickFiles(platform), at: (name) => `${folder}/${name}` })
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))

const plain = (info: FileSystem.File.Info) => {
  const { atime, birthtime, blksize, blocks, dev, gid, ino, mode, mtime, nlink, rdev, size, type, uid } = info
  return { atime, birthtime, blksize, blocks, dev, gid, ino, mode, mtime, nlink, rdev, size, type, uid }
}

const openFiles = () => readdirSync("/proc/self/fd").length

describe("quick files", () => {
  it.effect("tell of every kind of file what the platform tells", () =>
    inFolder(({ at, platform, quick }) => Effect.gen(function*() {
      yield* platform.writeFileString(at("file"), "text")
      yield* platform.makeDirectory(at("folder"))
      yield* platform.symlink("file", at("link"))
      execFileSync("mkfifo", [at("pipe")])
      for (const path of [at("file"), at("folder"), at("link"), at("pipe"), "/dev/null"]) {
        assert.deepStrictEqual(plain(yield* quick.lstat(path)), plain(yield* platform.lstat(path)))
      }
      for (const path of [at("file"), at("folder"), at("link"), "/dev/null"]) {
        assert.deepStrictEqual(plain(yield* quick.stat(path)), plain(yield* platform.stat(path)))
        assert.strictEqual(yield* quick.realPath(path), yield* platform.realPath(path))
      }
      assert.strictEqual(yield* quick.readLink(at("link")), "file")
    })))

  it.live("read whole what ends by itself, and refuse a pipe and a device that a link leads to, without a wait", () =>
    inFolder(({ at, platform, quick }) => Effect.gen(function*() {
      yield* platform.writeFileString(at("file"), "text")
      yield* platform.symlink("file", at("link"))
      yield* platform.symlink("/dev/zero", at("zero"))
      yield* platform.makeDirectory(at("folder"))
      execFileSync("mkfifo", [at("pipe")])
      for (const name of ["file", "link"]) assert.strictEqual(yield* quick.readFileString(at(name)), "text")
      for (const name of ["pipe", "zero"]) {
        const open = (noFollow: boolean) => quick.open(at(name), { flag: "r", noFollow })
        const reads: ReadonlyArray<Effect.Effect<unknown, PlatformError.PlatformError, import("effect").Scope.Scope>> = [quick.readFile(at(name)), quick.readFileString(at(name)), open(false), open(name === "pipe")]
        for (const read of reads) assert.include(String(yield* Effect.flip(read)), "no regular file")
      }
      for (const name of ["folder", "none"]) {
        assert.strictEqual((yield* Effect.flip(quick.readFile(at(name)))).reason._tag, (yield* Effect.flip(platform.readFile(at(name)))).reason._tag)
      }
      // What a shell puts in a command's place is named there.
      assert.strictEqual(yield* quick.readFileString("/dev/null"), "")
    })), 10_000)

  it.effect("fail as the platform fails", () =>
    inFolder(({ at, platform, quick }) => Effect.gen(function*() {
      yield* platform.writeFileString(at("file"), "text")
      yield* platform.symlink("file", at("link"))
      const attempts = (fs: FileSystem.FileSystem): ReadonlyArray<Effect.Effect<unknown, PlatformError.PlatformError, import("effect").Scope.Scope>> => [
        fs.lstat(at("none")),
        fs.lstat(at("file/below")),
        fs.readLink(at("file")),
        fs.stat(at("none")),
        fs.realPath(at("none/below")),
        fs.open(at("none"), { flag: "r", noFollow: true }),
        fs.open(at("link"), { flag: "r", noFollow: true }),
        fs.open(at("none/below"), { flag: "a" })
      ]
      const seen = (fs: FileSystem.FileSystem) =>
        Effect.forEach(attempts(fs), (attempt) => Effect.map(Effect.flip(attempt), ({ message, reason }) => [reason._tag, message]))
      assert.deepStrictEqual(yield* seen(quick), yield* seen(platform))
    })))

  it.effect("read a file from its start to its end, and anywhere in it", () =>
    inFolder(({ at, platform, quick }) => Effect.gen(function*() {
      const text = "x".repeat(100_000) + "end"
      yield* platform.writeFileString(at("file"), text)
      const file = yield* quick.open(at("file"), { flag: "r", noFollow: true })
      assert.deepStrictEqual(plain(yield* file.stat), plain(yield* platform.stat(at("file"))))
      const buffer = new Uint8Array(65_536)
      const sizes = [yield* file.read(buffer), yield* file.read(buffer), yield* file.read(buffer)]
      assert.deepStrictEqual(sizes, [65_536, 100_003 - 65_536, 0])
      assert.strictEqual(yield* file.read(buffer, { position: 100_000n }), 3)
      assert.strictEqual(new TextDecoder().decode(buffer.subarray(0, 3)), "end")
      assert.strictEqual(yield* file.seek(0n, "current"), 100_003n)
      assert.strictEqual(yield* file.seek(99_999n, "start"), 99_999n)
      assert.strictEqual(yield* file.seek(1n, "current"), 100_000n)
      assert.deepStrictEqual(Option.map(yield* file.readAlloc(9), (read) => new TextDecoder().decode(read)), Option.some("end"))
      assert.isTrue(Option.isNone(yield* file.readAlloc(9)))
      assert.strictEqual((yield* Effect.flip(file.seek(-1n, "start"))).reason._tag, "BadArgument")
      assert.strictEqual((yield* Effect.flip(file.read(buffer, { position: -1n }))).reason._tag, "BadArgument")
      for (const change of [file.write(bytes("x")), file.writeAll(bytes("x")), file.truncate(0)]) {
        assert.isTrue(Exit.isFailure(yield* Effect.exit(change)))
      }
    })))

  it.effect("close what they opened, also what they did not want", () =>
    inFolder(({ at, platform, quick }) => Effect.gen(function*() {
      yield* platform.writeFileString(at("file"), "text")
      const before = openFiles()
      yield* Effect.scoped(quick.open(at("file"), { flag: "r", noFollow: true }))
      yield* Effect.scoped(quick.open(at(""), { flag: "r", noFollow: true }))
      assert.strictEqual(openFiles(), before)
    })))

  it.effect("append small and large pieces in order, and keep what stood there", () =>
    inFolder(({ at, platform, quick }) => Effect.gen(function*() {
      yield* platform.writeFileString(at("log"), "old\n")
      const large = "y".repeat(200_000)
      const file = yield* quick.open(at("log"), { flag: "a" })
      for (const text of ["one\n", "", large, "two\n"]) yield* file.writeAll(bytes(text))
      assert.strictEqual(readFileSync(at("log"), "utf8"), `old\none\n${large}two\n`)
      yield* file.sync
      assert.strictEqual(Number((yield* file.stat).size), 200_012)
    })))

  it.effect("have appended when they say so, and tell the size, without a turn of the loop", () =>
    inFolder(({ at, quick }) => Effect.gen(function*() {
      const file = yield* quick.open(at("log"), { flag: "a" })
      Effect.runSync(file.writeAll(bytes("now")))
      assert.strictEqual(Number(Effect.runSync(file.stat).size), 3)
      assert.strictEqual(readFileSync(at("log"), "utf8"), "now")
    })))

  it.effect("fail to append as the platform fails, when the disk is full", () =>
    inFolder(({ platform, quick }) => Effect.gen(function*() {
      const attempt = (fs: FileSystem.FileSystem) =>
        Effect.map(Effect.flip(Effect.flatMap(fs.open("/dev/full", { flag: "a" }), (file) => file.writeAll(bytes("x")))), ({ reason }) =>
          [reason._tag, "cause" in reason && reason.cause instanceof Error ? reason.cause.message : undefined])
      const refusal = yield* attempt(quick)
      assert.include(refusal[1], "ENOSPC")
      assert.deepStrictEqual(refusal, yield* attempt(platform))
    })))
})
