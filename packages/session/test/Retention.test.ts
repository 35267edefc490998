/** Deleted sessions and snapshots: what is kept, and for how long. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, FileSystem } from "effect"
import { TestClock } from "effect/testing"
import { Sessions } from "../src/index.ts"
import { outlived, pruneSnapshots, pruneTrash } from "../src/Retention.ts"

const limits = { age: Duration.days(30), count: 3, bytes: 100 }
const day = Duration.toMillis(Duration.days(1))
type Thing = readonly [path: string, daysAgo: number, bytes: number]
const gone = (...all: ReadonlyArray<Thing>) =>
  outlived(all.map(([path, daysAgo, bytes]) => ({ path, modified: 100 * day - daysAgo * day, bytes })), limits, 100 * day).map(({ path }) => path).toSorted()

describe("what has outlived itself", () => {
  it("is what is older than the age", () => assert.deepStrictEqual(gone(["old", 31, 1], ["young", 29, 1]), ["old"]))
  it("is the oldest of too many", () => assert.deepStrictEqual(gone(["a", 1, 1], ["b", 4, 1], ["c", 2, 1], ["d", 3, 1]), ["b"]))
  it("is the oldest of too much, and all before it", () => assert.deepStrictEqual(gone(["a", 1, 60], ["b", 2, 60], ["c", 3, 1]), ["b", "c"]))
  it("is nothing of little", () => assert.deepStrictEqual(gone(["a", 1, 60], ["b", 2, 40]), []))
})

const inFolder = <A, E>(body: (folder: string, fs: FileSystem.FileSystem) => Effect.Effect<A, E, NodeServices.NodeServices>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    return yield* body(yield* fs.makeTempDirectoryScoped(), fs)
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

describe("deleted sessions", () => {
  it.effect("are gone a month after they were deleted, whenever they were written", () =>
    inFolder((folder, fs) =>
      Effect.gen(function*() {
        const sessions = yield* Sessions
        const put = (id: string) => fs.writeFileString(`${folder}/${id}.jsonl`, `{"type":"session","workspace":"/w"}\n`)
        yield* put("1")
        yield* fs.utimes(`${folder}/1.jsonl`, 0, 0)
        yield* TestClock.setTime(100 * day)
        yield* sessions.delete("1")
        yield* TestClock.adjust("29 days")
        yield* put("2")
        yield* sessions.delete("2")
        assert.lengthOf(yield* fs.readDirectory(`${folder}/.trash`), 2)
        yield* TestClock.adjust("2 days")
        yield* put("3")
        yield* sessions.delete("3")
        assert.deepStrictEqual((yield* fs.readDirectory(`${folder}/.trash`)).map((name) => name[0]).toSorted(), ["2", "3"])
        yield* sessions.restore("2")
      }).pipe(Effect.provide(Sessions.layer(folder)))
    ))

  it.effect("are bounded by number and size, and nothing else in their folder is touched", () =>
    inFolder((folder, fs) =>
      Effect.gen(function*() {
        yield* fs.makeDirectory(`${folder}/.trash`)
        for (const name of ["a.1.jsonl", "b.2.jsonl", "c.3.jsonl", "d.4.jsonl", "letter.txt"]) yield* fs.writeFileString(`${folder}/.trash/${name}`, "x".repeat(30))
        yield* pruneTrash(folder, limits)
        assert.deepStrictEqual((yield* fs.readDirectory(`${folder}/.trash`)).toSorted(), ["b.2.jsonl", "c.3.jsonl", "d.4.jsonl", "letter.txt"])
      })
    ))
})

describe("snapshots", () => {
  it.effect("go with their session when that is gone for good, not while it can be brought back", () =>
    inFolder((folder, fs) =>
      Effect.gen(function*() {
        const snapshots = `${folder}/.snapshots`
        for (const id of ["here", "deleted", "gone", "present"]) {
          yield* fs.makeDirectory(`${snapshots}/${id}`, { recursive: true })
          yield* fs.writeFileString(`${snapshots}/${id}/01234567`, "x")
        }
        yield* fs.writeFileString(`${folder}/here.jsonl`, "")
        yield* fs.makeDirectory(`${folder}/.trash`)
        yield* fs.writeFileString(`${folder}/.trash/deleted.5.jsonl`, "")
        yield* pruneSnapshots(folder, snapshots, "present", { ...limits, age: Duration.infinity })
        assert.deepStrictEqual((yield* fs.readDirectory(snapshots)).toSorted(), ["deleted", "here", "present"])
        yield* pruneSnapshots(folder, snapshots, "present", { ...limits, age: Duration.infinity, bytes: 1 })
        assert.lengthOf(yield* fs.readDirectory(snapshots), 2)
      })
    ))

  it.effect("of others are looked through when a session keeps its first one", () =>
    inFolder((folder, fs) =>
      Effect.gen(function*() {
        yield* fs.makeDirectory(`${folder}/.snapshots/gone`, { recursive: true })
        yield* Effect.gen(function*() {
          const { snapshots } = yield* Sessions
          yield* snapshots.keep("1", new Uint8Array(1))
          yield* Effect.repeat(fs.exists(`${folder}/.snapshots/gone`), { until: (there) => !there })
          assert.deepStrictEqual(yield* fs.readDirectory(`${folder}/.snapshots`), ["1"])
        }).pipe(Effect.provide(Sessions.layer(folder)))
      })
    ))
})
