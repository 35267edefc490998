/** The questions of extensions and of the agent, put on the screen and answered there. */
import { Deferred, Effect } from "effect"
import type { Answer, Approval, Confirmation, FrontendShape } from "@nimlet/extension"
import { EditorFailed, programOf } from "../ExternalEditor.ts"
import type { Outcome, Question } from "./Dialog.ts"
import type { Event } from "./Event.ts"

/** What a desk is made of. */
export interface DeskOptions {
  readonly dispatch: (event: Event) => void
  /** The person's editor, when they have one. */
  readonly editor: { readonly command: string; readonly edit: (title: string, text: string) => Effect.Effect<string, EditorFailed> } | undefined
}

/** The frontend, and the way in for answers. */
export interface Desk {
  readonly frontend: FrontendShape
  readonly answer: (id: number, outcome: Outcome) => void
}

const cancelled = { cancelled: true } as const

/** A desk with nothing on it. */
export const makeDesk = ({ dispatch, editor }: DeskOptions): Desk => {
  const open = new Map<number, Deferred.Deferred<Outcome>>()
  let last = 0

  /** Interrupting it takes the question away. */
  const ask = (question: Question): Effect.Effect<Outcome> =>
    Effect.suspend(() => {
      const id = ++last
      const answer = Deferred.makeUnsafe<Outcome>()
      open.set(id, answer)
      dispatch({ type: "asked", id, question })
      return Deferred.await(answer).pipe(
        Effect.onInterrupt(() => Effect.sync(() => dispatch({ type: "withdrawn", id }))),
        Effect.ensuring(Effect.sync(() => open.delete(id)))
      )
    })
  const words = (outcome: Outcome): Answer => outcome.kind === "text" ? { cancelled: false, answer: outcome.text } : cancelled
  const show = (event: Event): Effect.Effect<void> => Effect.sync(() => dispatch(event))

  const edit = ({ asker, text, title }: Parameters<FrontendShape["editor"]>[0]): Effect.Effect<Answer> => {
    if (editor === undefined) return Effect.map(ask({ kind: "text", asker, prompt: title === "" ? "a text" : title, secret: false, initial: text }), words)
    const asked = ask({ kind: "editor", asker, title, text, program: programOf(editor.command) })
    return Effect.flatMap(asked, (outcome) => {
      if (outcome.kind !== "edit") return Effect.succeed<Answer>(cancelled)
      return editor.edit(title, text).pipe(
        Effect.map((answer): Answer => ({ cancelled: false, answer })),
        Effect.tapError(({ message }) => show({ type: "notice", level: "warning", text: message, from: asker })),
        // The port has no failures: an extension reads the words of this one.
        Effect.orDie
      )
    })
  }

  return {
    answer: (id, outcome) => {
      const answer = open.get(id)
      if (answer !== undefined) Deferred.doneUnsafe(answer, Effect.succeed(outcome))
    },
    frontend: {
      interactive: true,
      question: ({ asker, options, prompt }) => Effect.map(ask({ kind: "choice", asker, prompt, options }), words),
      confirm: ({ asker, prompt }) =>
        Effect.map(ask({ kind: "confirm", asker, prompt }), (outcome): Confirmation => outcome.kind === "confirmed" ? { cancelled: false, confirmed: outcome.yes } : cancelled),
      input: ({ asker, prompt, secret }) => Effect.map(ask({ kind: "text", asker, prompt, secret, initial: "" }), words),
      editor: edit,
      approve: (request) =>
        Effect.map(ask({ kind: "approval", request }), (outcome): Approval => outcome.kind === "approval" ? outcome.approval : { decision: "deny", reason: "nobody answered" }),
      notify: (level, text, extension) => show({ type: "notice", level, text, ...(extension === undefined ? {} : { from: extension }) }),
      status: (key, segments) => show({ type: "status", key, segments }),
      widget: (key, widget) => show({ type: "widget", key, widget })
    }
  }
}
