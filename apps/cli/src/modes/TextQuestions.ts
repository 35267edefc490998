/** The questions of text mode: asked on the spot, one after another, each under the name of who asks. */
import { Effect, Option, Semaphore } from "effect"
import type { Answer, Approval, ApprovalRequest, Confirmation, EditorRequest, FrontendShape, Question, TextQuestion } from "@nimlet/extension"
import { evident, evidentLine } from "../Evident.ts"
import { EditorFailed, programOf } from "../ExternalEditor.ts"
import type { TypedLine } from "../TerminalInput.ts"
import type { Palette } from "./TextRows.ts"

/** The person's editor: its command line, and a text through it. */
export interface PersonsEditor {
  readonly command: string
  readonly edit: (request: EditorRequest) => Effect.Effect<string, EditorFailed>
}

/** How questions reach the screen and answers come back. */
export interface Asking {
  /** A line of its own. */
  readonly row: (text: string) => Effect.Effect<void>
  /** A text as it is. */
  readonly write: (text: string) => Effect.Effect<void>
  readonly line: Effect.Effect<TypedLine>
  readonly secret: (shown: Effect.Effect<void>) => Effect.Effect<TypedLine>
  /** Undefined when the person has not said which editor is theirs. */
  readonly editor: PersonsEditor | undefined
  readonly palette: Palette
}

const cancelled = { cancelled: true } as const
const no: Approval = { decision: "deny", reason: "denied by the user" }
const closed: Approval = { decision: "deny", reason: "nobody answered: the terminal closed its input" }

/** What an empty line, or a closed input, means everywhere: no answer. */
const answerOf = (line: TypedLine): string | undefined => Option.match(line, { onNone: () => undefined, onSome: (text) => text.trim() === "" ? undefined : text })

/** The questions of a frontend. */
export const makeQuestions = Effect.fnUntraced(function*(
  { editor, line, palette: { dim, yellow }, row, secret, write }: Asking
): Effect.fn.Return<Pick<FrontendShape, "approve" | "confirm" | "editor" | "input" | "question">> {
  const oneAtATime = yield* Semaphore.make(1)
  /** Once it is on the screen, a question that is withdrawn says so: what is typed then answers nothing. */
  const turn = <A, E>(asker: string, asked: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    oneAtATime.withPermits(1)(Effect.onInterrupt(asked, () => row(dim(`${evidentLine(asker)} no longer asks.`))))
  const prompted = (text: string) => Effect.andThen(row(text), write("> "))
  const ask = (text: string) => Effect.andThen(prompted(text), line)
  const asks = (asker: string, prompt: string) => `${evidentLine(asker)} asks: ${evident(prompt)}`

  const question = Effect.fnUntraced(function*({ asker, options, prompt }: Question) {
    const rows = options.map((option, index) => `\n  ${index + 1}. ${evidentLine(option)}`).join("")
    for (;;) {
      const typed = answerOf(yield* ask(`${asks(asker, prompt)}${rows}`))?.trim()
      if (typed === undefined) return cancelled
      const answer = options.length === 0 ? typed : options[Number(typed) - 1] ?? options.find((option) => option.toLowerCase() === typed.toLowerCase())
      if (answer !== undefined) return { cancelled: false, answer } satisfies Answer
    }
  })

  const confirm = Effect.fnUntraced(function*({ asker, prompt }: Omit<Question, "options">) {
    for (;;) {
      const typed = answerOf(yield* ask(`${asks(asker, prompt)}\n  y yes, n no`))?.trim().toLowerCase()
      if (typed === undefined) return cancelled
      if (typed === "y" || typed === "yes") return { cancelled: false, confirmed: true } satisfies Confirmation
      if (typed === "n" || typed === "no") return { cancelled: false, confirmed: false } satisfies Confirmation
    }
  })

  const input = Effect.fnUntraced(function*(asked: TextQuestion) {
    const text = asks(asked.asker, asked.prompt)
    const typed = yield* asked.secret
      ? Effect.tap(secret(prompted(`${text} ${dim("(not shown)")}`)), () => write("\n"))
      : ask(text)
    const answer = answerOf(typed)
    return answer === undefined ? cancelled : { cancelled: false, answer } satisfies Answer
  })

  const edit = Effect.fnUntraced(function*(request: EditorRequest) {
    const who = evidentLine(request.asker)
    const title = request.title === "" ? "a text" : `“${evidentLine(request.title)}”`
    if (editor === undefined) {
      yield* row(yellow(`${who} wants ${title} edited: set VISUAL or EDITOR to your editor`))
      return yield* Effect.die(new EditorFailed({ reason: "interactive editor is unavailable" }))
    }
    yield* row(dim(`${who} opens ${title} in ${programOf(editor.command)}`))
    // The frontend's port has no failures: an extension reads the words of this one.
    const answer = yield* editor.edit(request).pipe(Effect.tapError(({ message }) => row(yellow(`${who}: ${message}`))), Effect.orDie)
    return { cancelled: false, answer } satisfies Answer
  })

  const approve = Effect.fnUntraced(function*(request: ApprovalRequest) {
    const remember = request.canRemember ? `, s for this session${request.project === true ? ", p for this project" : ""}` : ""
    const preview = request.preview === undefined || request.preview === "" ? "" : `\n${evident(request.preview).replaceAll(/^/gm, "  ")}`
    const why = request.reason === undefined ? "" : dim(` (${evidentLine(request.reason)})`)
    for (;;) {
      const typed = yield* ask(`${yellow("Allow")} ${request.tool}: ${evident(request.summary)}${why}${preview}\n  y once${remember}, n no`)
      if (Option.isNone(typed)) return closed
      const answer = typed.value.trim().toLowerCase()
      if (answer === "y" || answer === "yes") return { decision: "once" } satisfies Approval
      if (request.canRemember && answer === "s") return { decision: "session" } satisfies Approval
      if (request.canRemember && request.project === true && answer === "p") return { decision: "project" } satisfies Approval
      if (answer === "n" || answer === "no") return no
    }
  })

  return {
    question: (asked) => turn(asked.asker, question(asked)),
    confirm: (asked) => turn(asked.asker, confirm(asked)),
    input: (asked) => turn(asked.asker, input(asked)),
    editor: (request) => turn(request.asker, edit(request)),
    approve: (request) => turn(request.tool, approve(request))
  }
})
