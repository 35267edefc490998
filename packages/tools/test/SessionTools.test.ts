import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, FileSystem } from "effect"
import { Asker, askUserTool, readSkillTool } from "../src/index.ts"
import type { UserAnswer, UserQuestion } from "../src/index.ts"
import { call, makeFolder } from "./Rig.ts"

describe("ask_user", () => {
  const ask = (answer: UserAnswer, asked: Array<UserQuestion> = []) =>
    call(askUserTool, { question: "Which?", options: ["one", "two"] }).pipe(
      Effect.provideService(Asker, { ask: (question) => Effect.sync(() => { asked.push(question) }).pipe(Effect.as(answer)) })
    )

  it.effect("puts the question with its options and gives the answer", () =>
    Effect.gen(function*() {
      const asked: Array<UserQuestion> = []
      const result = yield* ask({ outcome: "answered", answer: "two" }, asked)
      assert.deepStrictEqual(asked, [{ prompt: "Which?", options: ["one", "two"] }])
      assert.strictEqual(result.text, "two")
      assert.isFalse(result.isError)
    }))

  it.effect("tells the model that it was dismissed, or that nobody can be asked", () =>
    Effect.gen(function*() {
      for (const [outcome, text] of [["dismissed", "The user dismissed the question."], ["unavailable", "User questions are unavailable in this interface."]] as const) {
        const result = yield* ask({ outcome })
        assert.isTrue(result.isError)
        assert.strictEqual(result.text, text)
      }
    }))

  it.effect("withdraws the question when the call is interrupted", () =>
    Effect.gen(function*() {
      let withdrawn = false
      const fiber = yield* Effect.forkChild(call(askUserTool, { question: "?", options: ["a"] }).pipe(
        Effect.provideService(Asker, { ask: () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => { withdrawn = true })) })
      ), { startImmediately: true })
      yield* Fiber.interrupt(fiber)
      assert.isTrue(withdrawn)
    }))
})

describe("read_skill", () => {
  const inFolder = <A, E, R>(body: (w: Effect.Success<typeof makeFolder>, read: (name: string) => ReturnType<typeof call<FileSystem.FileSystem>>) => Effect.Effect<A, E, R>) =>
    Effect.gen(function*() {
      const w = yield* makeFolder
      const skills = Effect.map(w.names("."), (names) => names.map((name) => ({ name, file: w.at(`${name}/SKILL.md`) })))
      return yield* body(w, (name) => call(readSkillTool(Effect.orDie(skills)), { name }))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

  it.effect("gives name, file and text, in whatever case the name is", () =>
    inFolder((w, read) => Effect.gen(function*() {
      yield* w.put("Deploy/SKILL.md", "\ufeffFirst build.\n")
      for (const name of ["Deploy", "deploy"]) {
        assert.strictEqual((yield* read(name)).text, `Skill: Deploy\nfile: ${w.at("Deploy/SKILL.md")}\n\nFirst build.\n`)
      }
    })))

  it.effect("cuts a long one within the limits, at a character, and says where the rest is", () =>
    inFolder((w, read) => Effect.gen(function*() {
      yield* w.put("long/SKILL.md", "你".repeat(60_000))
      yield* w.put("lines/SKILL.md", "x\n".repeat(5000))
      const { text } = yield* read("long")
      assert.isAtMost(Buffer.byteLength(text), 51_200)
      assert.notInclude(text, "\ufffd")
      assert.include(text, `more bytes are in ${w.at("long/SKILL.md")}`)
      assert.isAtMost((yield* read("lines")).text.split("\n").length, 2000)
    })))

  it.effect("names the skills there are when one is unknown, and says what is wrong with a file", () =>
    inFolder((w, read) => Effect.gen(function*() {
      yield* w.put("huge/SKILL.md", "x".repeat(1_100_000))
      yield* w.put("image/SKILL.md", Uint8Array.of(1, 0, 2))
      yield* w.put("none/other.md", "")
      yield* w.put("folder/SKILL.md/x", "")
      assert.strictEqual((yield* read("deploy")).text, "no skill is named \"deploy\"; there are: folder, huge, image, none")
      for (const [name, reason] of [["huge", "more than 1 MB"], ["image", "binary"], ["none", "cannot be read: NotFound"], ["folder", "not a regular file"]] as const) {
        const result = yield* read(name)
        assert.isTrue(result.isError)
        assert.include(result.text, reason)
      }
    })))
})
