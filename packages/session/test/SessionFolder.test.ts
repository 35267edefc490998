import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, FileSystem, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { encodeLine, type NewEntry, Sessions } from "../src/index.ts"

const say = (text: string): NewEntry => ({ type: "user", role: "user", content: [{ type: "text", text }] })
const answer = (text: string): NewEntry => ({ type: "assistant", role: "assistant", content: [{ type: "text", text }] })
const living = new Set([1, 2])

const sessionsOf = (folder: string, pid: number) =>
  Effect.provide(Sessions, Layer.provide(Sessions.layer(folder, { pid, isAlive: (other) => living.has(other) }), NodeServices.layer))

const inFolder = <A, E>(body: (folder: string) => Effect.Effect<A, E, Sessions | NodeServices.NodeServices>) =>
  Effect.gen(function*() {
    const folder = `${yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()}/sessions`
    return yield* body(folder).pipe(Effect.provide(Sessions.layer(folder, { pid: 1, isAlive: (pid) => living.has(pid) })))
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

/** A session with these entries, closed again: its id. Each has a moment of its own. */
const made = (entries: ReadonlyArray<NewEntry>, workspace = "/w") =>
  Effect.scoped(Effect.gen(function*() {
    yield* TestClock.adjust("1 second")
    const session = yield* (yield* Sessions).create({ workspace, persist: true })
    yield* Effect.forEach(entries, session.append)
    return session.id
  }))

/** Sets when a session was written last. */
const touch = (folder: string, id: string, seconds: number) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.utimes(`${folder}/${id}.jsonl`, seconds, seconds))

const textsOf = (entries: ReadonlyArray<{ readonly type: string }>) =>
  entries.map((entry) => "content" in entry && Array.isArray(entry.content) ? entry.content.map((part: { text?: string }) => part.text).join() : entry.type)

describe("list", () => {
  it.effect("has every session, the one written last first, with what its ends say", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const sessions = yield* Sessions
        const old = yield* made([say("first words\nand more"), answer("ok"), { type: "name", name: "one" }, { type: "name", name: "two" }])
        const other = yield* made([{ type: "selection", provider: "p", model: "m" }, say("elsewhere")], "/other")
        yield* touch(folder, old, 2000)
        yield* touch(folder, other, 1000)
        const [first, second, ...rest] = yield* sessions.list()
        assert.deepStrictEqual(rest, [])
        assert.deepStrictEqual([first?.id, first?.workspace, first?.name, first?.firstText, first?.modified], [old, "/w", "two", "first words\nand more", 2_000_000])
        assert.match(first?.at ?? "", /^1970-01-01T00:00:01/)
        assert.deepStrictEqual([second?.id, second?.workspace, second?.name, second?.firstText], [other, "/other", undefined, "elsewhere"])
      })
    ))

  it.effect("is of one workspace, and of those that have every word in id, name or first text", () =>
    inFolder(() =>
      Effect.gen(function*() {
        const sessions = yield* Sessions
        const fix = yield* made([say("Fix the parser"), say("unlisted words"), { type: "name", name: "Grammar" }])
        const elsewhere = yield* made([say("fix the parser")], "/other")
        const idsOf = (filter: Parameters<typeof sessions.list>[0]) => Effect.map(sessions.list(filter), (found) => found.map(({ id }) => id).toSorted())
        assert.deepStrictEqual(yield* idsOf({ workspace: "/w" }), [fix])
        assert.deepStrictEqual(yield* idsOf({ query: "PARSER fix" }), [fix, elsewhere].toSorted())
        assert.deepStrictEqual(yield* idsOf({ query: `grammar  ${fix.slice(2)} parser` }), [fix])
        assert.deepStrictEqual(yield* idsOf({ query: "parser unlisted" }), [])
        assert.deepStrictEqual(yield* idsOf({ query: "  " }), [fix, elsewhere].toSorted())
      })
    ))

  it.effect("reads no more than the ends of long files, and finds first words and name there", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const id = yield* made([say(`many words ${"ä".repeat(40_000)}\\ "quoted"`), ...Array.from({ length: 60 }, () => answer("x".repeat(5000))), { type: "name", name: "far" }])
        let read = 0
        const counting = Layer.provide(
          Sessions.layer(folder),
          Layer.mergeAll(NodeServices.layer, Layer.succeed(FileSystem.FileSystem, {
            ...fs,
            open: (path, options) =>
              Effect.map(fs.open(path, options), (file): FileSystem.File => Object.create(file, {
                readAlloc: {
                  value: (size: number, where: FileSystem.File.ReadOptions) => {
                    read += size
                    return file.readAlloc(size, where)
                  }
                }
              }) as FileSystem.File)
          }))
        )
        const [found] = yield* Effect.flatMap(Sessions, (sessions) => sessions.list()).pipe(Effect.provide(counting))
        assert.deepStrictEqual([found?.id, found?.name, found?.firstText.slice(0, 13)], [id, "far", "many words ää"])
        assert.isBelow(read, 64 * 1024)
        assert.isAbove(found?.bytes ?? 0, 300_000)
      })
    ))

  it.effect("finds a name that was given long before the end, once the session was closed", () =>
    inFolder(() =>
      Effect.gen(function*() {
        const sessions = yield* Sessions
        const long = Array.from({ length: 20 }, () => answer("x".repeat(2000)))
        const id = yield* made([say("hi"), { type: "name", name: "earlier" }, ...long, { type: "name", name: "early" }, ...long])
        assert.deepStrictEqual((yield* sessions.list()).map(({ name }) => name), ["early"])
        // It is not said again without need.
        const before = (yield* sessions.read(id)).entries.length
        yield* Effect.scoped(Effect.flatMap(sessions.open(id), (session) => session.append(say("more"))))
        yield* Effect.scoped(sessions.open(id))
        assert.strictEqual((yield* sessions.read(id)).entries.length, before + 1)
        const short = yield* made([say("hi"), { type: "name", name: "near" }, say("ho")])
        assert.strictEqual((yield* sessions.read(short)).entries.length, 3)
      })
    ))

  it.effect("finds the first words behind what an extension put before them", () =>
    inFolder(() =>
      Effect.gen(function*() {
        yield* made([{ type: "extension", extension: "x", data: "y".repeat(100_000) }, say("at last")])
        assert.deepStrictEqual((yield* (yield* Sessions).list()).map(({ firstText }) => firstText), ["at last"])
      })
    ))

  it.effect("has a session whose file is a link to one kept elsewhere", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const id = yield* made([say("kept elsewhere")])
        yield* fs.rename(`${folder}/${id}.jsonl`, `${folder}/elsewhere`)
        yield* fs.symlink(`${folder}/elsewhere`, `${folder}/${id}.jsonl`)
        const found = yield* (yield* Sessions).list()
        assert.deepStrictEqual(found.map((one) => [one.id, one.firstText]), [[id, "kept elsewhere"]])
      })
    ))

  it.effect("bears with damaged files, files of others and no folder at all", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const sessions = yield* Sessions
        assert.deepStrictEqual(yield* sessions.list(), [])
        const id = yield* made([say("fine")])
        yield* fs.writeFileString(`${folder}/2.jsonl`, "")
        yield* fs.writeFile(`${folder}/3.jsonl`, Uint8Array.from({ length: 40_000 }, (_, at) => (at * 7919) % 256))
        yield* fs.writeFileString(`${folder}/4.jsonl`, `damaged\n${encodeLine(say("no header"))}`)
        yield* fs.makeDirectory(`${folder}/5.jsonl`)
        yield* fs.symlink(`${folder}/none`, `${folder}/6.jsonl`)
        const found = new Map((yield* sessions.list()).map((summary) => [summary.id, summary]))
        assert.strictEqual(found.get(id)?.firstText, "fine")
        assert.strictEqual(found.get("4")?.firstText, "no header")
        assert.isFalse(found.has("5"))
        assert.deepStrictEqual((yield* sessions.list({ workspace: "/w" })).map((summary) => summary.id), [id])
      })
    ))
})

describe("copy", () => {
  it.effect("has the entries before a message of the user, word for word, and tells what it said", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const sessions = yield* Sessions
        const id = yield* made([say("one"), answer("1"), { type: "label", target_id: "x" }, say("two"), answer("2"), say("three")])
        const original = yield* fs.readFileString(`${folder}/${id}.jsonl`)
        const forked = yield* sessions.copy(id, { message: 2 })
        assert.strictEqual(forked.text, "two")
        assert.strictEqual(yield* fs.readFileString(`${folder}/${id}.jsonl`), original)
        const [header = "", ...lines] = (yield* fs.readFileString(`${folder}/${forked.id}.jsonl`)).split("\n")
        assert.deepStrictEqual(lines, [...original.split("\n").slice(1, 4), ""])
        assert.deepInclude(JSON.parse(header) as object, { type: "session", id: forked.id, workspace: "/w", parent: id })
        assert.deepStrictEqual((yield* fs.readDirectory(folder)).toSorted(), [`${id}.jsonl`, `${forked.id}.jsonl`].toSorted())
        assert.strictEqual((yield* sessions.list()).find((one) => one.id === forked.id)?.parent, id)
      })
    ))

  it.effect("begins with nothing, has all, or says how many messages there are", () =>
    inFolder(() =>
      Effect.gen(function*() {
        const sessions = yield* Sessions
        const id = yield* made([say("one"), answer("1"), say("two")])
        const all = yield* sessions.copy(id)
        assert.strictEqual(all.text, "")
        assert.deepStrictEqual(textsOf((yield* sessions.read(all.id)).entries), ["one", "1", "two"])
        assert.deepStrictEqual((yield* sessions.read((yield* sessions.copy(id, { message: 1 })).id)).entries, [])
        for (const message of [0, 3, -1]) {
          const error = yield* Effect.flip(sessions.copy(id, { message }))
          assert.deepStrictEqual(error._tag === "MessageNotFound" ? [error.message_number, error.messages] : error._tag, [message, 2])
        }
        assert.strictEqual((yield* Effect.flip(sessions.copy("none", { message: 1 })))._tag, "SessionNotFound")
      })
    ))

  it.effect("is possible while another process writes, and leaves damaged lines behind", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const sessions = yield* Sessions
        const id = yield* made([say("one"), answer("1"), say("two")])
        const file = `${folder}/${id}.jsonl`
        yield* fs.writeFileString(file, (yield* fs.readFileString(file)).replace(/^(.*\n.*\n)/, "$1garbage\n"))
        yield* Effect.scoped(Effect.andThen(Effect.flatMap(sessionsOf(folder, 2), (other) => other.open(id)), Effect.gen(function*() {
          const forked = yield* sessions.read((yield* sessions.copy(id, { message: 2 })).id)
          assert.deepStrictEqual([textsOf(forked.entries), forked.damaged], [["one", "1"], []])
        })))
      })
    ))
})

describe("name", () => {
  it.effect("gives a session a title, unless another process writes it", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const sessions = yield* Sessions
        const id = yield* made([say("one")])
        yield* sessions.name(id, "a title")
        assert.deepStrictEqual((yield* sessions.list()).map(({ name }) => name), ["a title"])
        yield* Effect.scoped(Effect.andThen(Effect.flatMap(sessionsOf(folder, 2), (other) => other.open(id)), Effect.gen(function*() {
          assert.strictEqual((yield* Effect.flip(sessions.name(id, "no")))._tag, "SessionLocked")
        })))
      })
    ))
})

describe("delete and restore", () => {
  it.effect("move a session to the trash and its newest copy back", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const sessions = yield* Sessions
        const id = yield* made([say("one")])
        const file = `${folder}/${id}.jsonl`
        yield* TestClock.adjust("1 second")
        yield* sessions.delete(id)
        assert.deepStrictEqual(yield* sessions.list(), [])
        assert.match((yield* fs.readDirectory(`${folder}/.trash`)).join(), new RegExp(`^${id}\\.\\d+\\.jsonl$`))
        assert.deepStrictEqual(yield* fs.readDirectory(folder), [".trash"])
        assert.strictEqual((yield* Effect.flip(sessions.delete(id)))._tag, "SessionNotFound")
        // A second copy, deleted later: one microsecond has more digits, and is still later.
        yield* fs.writeFileString(file, encodeLine({ type: "session", workspace: "/w" }) + encodeLine(say("two")))
        yield* TestClock.adjust("1000 seconds")
        yield* sessions.delete(id)
        yield* sessions.restore(id)
        assert.deepStrictEqual(textsOf((yield* sessions.read(id)).entries), ["two"])
        assert.strictEqual((yield* Effect.flip(sessions.restore(id)))._tag, "SessionExists")
        assert.deepStrictEqual(textsOf((yield* sessions.read(id)).entries), ["two"])
        yield* fs.remove(file)
        yield* sessions.restore(id)
        assert.deepStrictEqual(textsOf((yield* sessions.read(id)).entries), ["one"])
        yield* fs.remove(file)
        assert.strictEqual((yield* Effect.flip(sessions.restore(id)))._tag, "SessionNotFound")
        assert.strictEqual((yield* Effect.flip(sessions.restore("../x")))._tag, "SessionNotFound")
      })
    ))

  it.effect("leave alone a session that a living process writes", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const sessions = yield* Sessions
        const id = yield* made([say("one")])
        yield* Effect.scoped(Effect.andThen(Effect.flatMap(sessionsOf(folder, 2), (other) => other.open(id)), Effect.gen(function*() {
          const error = yield* Effect.flip(sessions.delete(id))
          assert.strictEqual(error._tag === "SessionLocked" ? error.pid : error._tag, 2)
        })))
        assert.deepStrictEqual(textsOf((yield* sessions.read(id)).entries), ["one"])
      })
    ))
})

describe("follow", () => {
  /** What a follower of `id` has seen so far, and a way to let it look `times` times: its files are real, its time is not. */
  const following = Effect.fnUntraced(function*(folder: string, id: string) {
    const fs = yield* FileSystem.FileSystem
    const seen: Array<string> = []
    const fiber = yield* (yield* Sessions).follow(id).pipe(
      Stream.runForEach((entry) => Effect.sync(() => seen.push(...textsOf([entry]).map((text) => text.slice(0, 5))))),
      Effect.forkChild
    )
    // The folder is read so that the follower's own reading comes about.
    const turn = fs.readDirectory(folder)
    const turns = (times: number) => Effect.forEach(Array.from({ length: times }), () => turn, { discard: true })
    const looks = (times: number) =>
      Effect.forEach(Array.from({ length: times }), () => Effect.andThen(turns(10), TestClock.adjust("200 millis")), { discard: true })
    const until = (count: number) => Effect.repeat(looks(1), { until: () => seen.length >= count })
    return { seen, fiber, looks, turns, until }
  })

  it.effect("gives what is there and what comes, whole lines only, until the session is removed", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const sessions = yield* Sessions
        const id = yield* made([say("one"), say("two")])
        const file = `${folder}/${id}.jsonl`
        const { fiber, looks, seen, until } = yield* following(folder, id)
        yield* until(2)
        yield* Effect.scoped(Effect.flatMap(sessions.open(id), (session) => session.append(say("three"))))
        yield* until(3)
        // Half a line, cut off again by its writer, and another in its place.
        const { size } = yield* fs.stat(file)
        yield* fs.writeFileString(file, `{"type":"user","role":"user","content":[{"type":"text","text":"never`, { flag: "a" })
        yield* looks(3)
        yield* fs.truncate(file, Number(size))
        yield* fs.writeFileString(file, `damaged\n${encodeLine(say("x".repeat(600_000)))}${encodeLine(say("four"))}`, { flag: "a" })
        yield* until(5)
        yield* sessions.delete(id)
        yield* looks(3)
        yield* Fiber.join(fiber)
        assert.deepStrictEqual(seen, ["one", "two", "three", "xxxxx", "four"])
      })
    ), 30_000)

  it.effect("looks again after its pause, and not before", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const id = yield* made([say("one")])
        // A follower asks whether the file is still there when it has found nothing new, and then pauses.
        let asked = 0
        const counting = Layer.provide(
          Sessions.layer(folder, { pid: 1, isAlive: () => true }),
          Layer.mergeAll(NodeServices.layer, Layer.succeed(FileSystem.FileSystem, {
            ...fs,
            exists: (path) => Effect.tap(fs.exists(path), () => Effect.sync(() => asked++))
          }))
        )
        const { seen, turns } = yield* Effect.provide(following(folder, id), counting)
        const paused = (times: number) => Effect.andThen(Effect.repeat(turns(1), { until: () => asked >= times }), turns(5))
        yield* paused(1)
        yield* Effect.scoped(Effect.flatMap((yield* Sessions).open(id), (session) => session.append(say("two"))))
        yield* turns(20)
        yield* TestClock.adjust("199 millis")
        yield* turns(20)
        assert.deepStrictEqual(seen, ["one"])
        yield* TestClock.adjust("1 millis")
        yield* paused(2)
        assert.deepStrictEqual(seen, ["one", "two"])
      })
    ), 30_000)

  it.effect("is refused for a session that is not there", () =>
    inFolder(() =>
      Effect.gen(function*() {
        assert.strictEqual((yield* Effect.flip(Stream.runDrain((yield* Sessions).follow("none"))))._tag, "SessionNotFound")
      })
    ))
})

describe("a compaction", () => {
  it.effect("is written with the id of the entry that it keeps from", () =>
    inFolder(() =>
      Effect.scoped(Effect.gen(function*() {
        const session = yield* (yield* Sessions).create({ workspace: "/w", persist: true })
        yield* session.append(say("one"))
        const kept = yield* session.append(say("two"))
        const compaction = yield* session.append({ type: "compaction", summary: "s", first_kept_index: 1, tokens_before: 9 })
        assert.strictEqual(compaction.type === "compaction" ? compaction.first_kept_id : "", kept.entry_id)
        assert.notProperty(yield* session.append({ type: "compaction", summary: "s", first_kept_index: 3, tokens_before: 9 }), "first_kept_id")
      }))
    ))
})
