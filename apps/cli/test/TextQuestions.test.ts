import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Option, Queue } from "effect"
import { EditorFailed } from "../src/ExternalEditor.ts"
import { type Asking, makeQuestions } from "../src/modes/TextQuestions.ts"
import { palette } from "../src/modes/TextRows.ts"
import type { TypedLine } from "../src/TerminalInput.ts"

/** Questions over a screen that is a list and a keyboard that is a queue. */
const atTerminal = Effect.fnUntraced(function*(lines: ReadonlyArray<string> = [], editor?: Asking["editor"]) {
  const screen: Array<string> = []
  const keyboard = yield* Queue.unbounded<TypedLine>()
  for (const line of lines) yield* Queue.offer(keyboard, Option.some(line))
  const show = (text: string) => Effect.sync(() => void screen.push(text))
  const questions = yield* makeQuestions({
    row: show,
    write: show,
    line: Queue.take(keyboard),
    secret: (shown) => Effect.andThen(show("<hidden>"), Effect.andThen(shown, Queue.take(keyboard))),
    editor,
    palette: palette(false)
  })
  return { questions, screen, keyboard }
})
const asked = { asker: "guard", prompt: "Sure?" }

describe("a question in a terminal", () => {
  it.effect("names who asks and takes a number, a name or nothing", () =>
    Effect.gen(function*() {
      const options = ["Keep", "Drop"]
      for (const [lines, expected] of [[["2"], "Drop"], [["keep"], "Keep"], [["no such", "1"], "Keep"], [[""], undefined]] as const) {
        const { questions, screen } = yield* atTerminal(lines)
        const answer = yield* questions.question({ ...asked, options })
        assert.deepStrictEqual(answer, expected === undefined ? { cancelled: true } : { cancelled: false, answer: expected })
        assert.include(screen[0], "guard asks: Sure?")
      }
    }))

  it.effect("hides nothing of what somebody says yes to", () =>
    Effect.gen(function*() {
      const { questions, screen } = yield* atTerminal(["y", "1"])
      yield* questions.approve({ tool: "bash", arguments: {}, summary: "touch HIDDEN #\recho safe\u200b", preview: `+a${" ".repeat(300)}b`, canRemember: false })
      yield* questions.question({ asker: "guard", prompt: "rm\rls", options: ["a\rb"] })
      for (const part of ["touch HIDDEN #␍echo safe⟨U+200B⟩", "+a⋯300 blanks⋯b", "rm␍ls", "1. a␍b"]) assert.include(screen.join("\n"), part)
    }))

  it.effect("without options takes any words", () =>
    Effect.gen(function*() {
      const { questions } = yield* atTerminal(["what I think"])
      assert.deepStrictEqual(yield* questions.question({ ...asked, options: [] }), { cancelled: false, answer: "what I think" })
    }))

  it.effect("of yes or no is asked until it is one of them", () =>
    Effect.gen(function*() {
      for (const [lines, expected] of [[["Y"], true], [["perhaps", "no"], false], [[""], undefined]] as const) {
        const { questions } = yield* atTerminal(lines)
        const answer = yield* questions.confirm(asked)
        assert.deepStrictEqual(answer, expected === undefined ? { cancelled: true } : { cancelled: false, confirmed: expected })
      }
    }))

  it.effect("for a text keeps its blanks; for a secret the screen is not shown what is typed", () =>
    Effect.gen(function*() {
      const { questions, screen } = yield* atTerminal([" two words ", "s3cret"])
      assert.deepStrictEqual(yield* questions.input({ ...asked, secret: false }), { cancelled: false, answer: " two words " })
      assert.notInclude(screen, "<hidden>")
      assert.deepStrictEqual(yield* questions.input({ ...asked, secret: true }), { cancelled: false, answer: "s3cret" })
      assert.include(screen, "<hidden>")
      assert.notInclude(screen.join(), "s3cret")
    }))

  it.effect("waits until the one before is answered, and is withdrawn with a word when nobody wants it answered", () =>
    Effect.gen(function*() {
      const { keyboard, questions, screen } = yield* atTerminal()
      const first = yield* Effect.forkChild(questions.confirm(asked), { startImmediately: true })
      const second = yield* Effect.forkChild(questions.input({ asker: "notes", prompt: "Name?", secret: false }), { startImmediately: true })
      assert.notInclude(screen.join(), "Name?")
      yield* Fiber.interrupt(first)
      assert.include(screen.join(), "guard no longer asks")
      yield* Queue.offer(keyboard, Option.some("y"))
      assert.deepStrictEqual(yield* Fiber.join(second), { cancelled: false, answer: "y" })
    }))

  it.effect("that was not on the screen yet is withdrawn in silence", () =>
    Effect.gen(function*() {
      const { questions, screen } = yield* atTerminal()
      yield* Effect.forkChild(questions.confirm(asked), { startImmediately: true })
      const second = yield* Effect.forkChild(questions.confirm({ asker: "notes", prompt: "Name?" }), { startImmediately: true })
      yield* Fiber.interrupt(second)
      assert.notInclude(screen.join(), "notes")
    }))

  it.effect("is cancelled when the input is closed", () =>
    Effect.gen(function*() {
      const { keyboard, questions } = yield* atTerminal()
      yield* Queue.offerAll(keyboard, [Option.none(), Option.none(), Option.none()])
      assert.deepStrictEqual(yield* questions.confirm(asked), { cancelled: true })
      assert.deepStrictEqual(yield* questions.input({ ...asked, secret: true }), { cancelled: true })
      const denied = yield* questions.approve({ tool: "bash", arguments: {}, summary: "ls", canRemember: false })
      assert.strictEqual(denied.decision, "deny")
    }))
})

describe("a text to edit", () => {
  const request = { asker: "plan", title: "The plan", text: "one" }
  const reasonOf = (exit: Exit.Exit<unknown>) => Exit.isFailure(exit) ? String((Cause.squash(exit.cause) as Error).message) : ""

  it.effect("comes back from the person's editor, which is named with who asked", () =>
    Effect.gen(function*() {
      const editor = { command: "/usr/bin/ed -s", edit: () => Effect.succeed("two") }
      const { questions, screen } = yield* atTerminal([], editor)
      assert.deepStrictEqual(yield* questions.editor(request), { cancelled: false, answer: "two" })
      assert.include(screen[0], "plan")
      assert.include(screen[0], "The plan")
      assert.include(screen[0], " ed")
    }))

  it.effect("is refused in words when there is no editor, or it fails", () =>
    Effect.gen(function*() {
      const none = yield* atTerminal()
      assert.strictEqual(reasonOf(yield* Effect.exit(none.questions.editor(request))), "interactive editor is unavailable")
      assert.include(none.screen.join(), "EDITOR")
      const broken = yield* atTerminal([], { command: "vi", edit: () => new EditorFailed({ reason: "vi exited with code 3" }) })
      assert.strictEqual(reasonOf(yield* Effect.exit(broken.questions.editor(request))), "vi exited with code 3")
    }))

  it.effect("keeps other questions waiting", () =>
    Effect.gen(function*() {
      const done = yield* Deferred.make<string>()
      const { questions, screen } = yield* atTerminal(["y"], { command: "vi", edit: () => Deferred.await(done) })
      const editing = yield* Effect.forkChild(questions.editor(request), { startImmediately: true })
      const asking = yield* Effect.forkChild(questions.confirm(asked), { startImmediately: true })
      assert.notInclude(screen.join(), "Sure?")
      yield* Deferred.succeed(done, "x")
      yield* Fiber.join(editing)
      assert.deepStrictEqual(yield* Fiber.join(asking), { cancelled: false, confirmed: true })
    }))
})
