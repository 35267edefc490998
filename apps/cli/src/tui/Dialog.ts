/** What somebody asks the person, and what a key makes of it. Pure. */
import type { Approval, ApprovalRequest } from "@nimlet/extension"
import { type Field, fieldKey, fieldOf } from "./Field.ts"

/** What is asked; `asker` is always told. */
export type Question =
  | { readonly kind: "choice"; readonly asker: string; readonly prompt: string; readonly options: ReadonlyArray<string> }
  | { readonly kind: "confirm"; readonly asker: string; readonly prompt: string }
  | { readonly kind: "text"; readonly asker: string; readonly prompt: string; readonly secret: boolean; readonly initial: string }
  | { readonly kind: "editor"; readonly asker: string; readonly title: string; readonly text: string; readonly program: string }
  | { readonly kind: "approval"; readonly request: ApprovalRequest }

/** What was answered. */
export type Outcome =
  | { readonly kind: "cancelled" }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "confirmed"; readonly yes: boolean }
  | { readonly kind: "edit" }
  | { readonly kind: "approval"; readonly approval: Approval }

/** A question and how far the person is with it. `field` is where words are typed: an answer, or the reason of a denial. */
export interface Dialog {
  readonly id: number
  readonly question: Question
  readonly selected: number
  readonly field: Field | undefined
  /** When it came on the screen, in milliseconds; undefined while others stand before it. */
  readonly since: number | undefined
  /** A letter that answers, unless it turns out to begin a word; `at` is when it was typed. */
  readonly held?: { readonly letter: string; readonly outcome: Outcome; readonly at: number } | undefined
  /** The person writes beside it: until they have done, or turn to it, what they type is no answer. */
  readonly beside?: boolean
}

/** How long a question must have stood, and the keys have rested, before keys answer it, in milliseconds. */
const rest = 300

/** Whether a question takes no keys yet. */
export const isResting = ({ since }: Dialog, now: number): boolean => now - (since ?? now) < rest

/** How long a letter is held, in milliseconds: within a word the next one comes sooner. */
const hold = 200

/** What a letter that was held answers: nothing came behind it. */
export const heldAnswer = ({ held }: Dialog, now: number): Outcome | undefined => held === undefined || now - held.at < hold ? undefined : held.outcome

/** One way to answer: what it says, the keys that choose it at once, and what it answers; `reason` wants words first. */
export interface Choice {
  readonly label: string
  readonly keys: ReadonlyArray<string>
  readonly outcome: Outcome | "reason"
}

const decision = (approval: Approval): Outcome => ({ kind: "approval", approval })
const denied = (reason: string): Outcome => decision({ decision: "deny", reason })
const byUser = "denied by the user"

/** The ways to answer a question that is answered by choosing; none where words are wanted. */
export const choicesOf = (question: Question): ReadonlyArray<Choice> => {
  switch (question.kind) {
    case "choice":
      return question.options.map((option, index) => ({ label: option, keys: index < 9 ? [String(index + 1)] : [], outcome: { kind: "text", text: option } }))
    case "confirm":
      return [
        { label: "Yes", keys: ["y"], outcome: { kind: "confirmed", yes: true } },
        { label: "No", keys: ["n"], outcome: { kind: "confirmed", yes: false } }
      ]
    case "editor":
      return [{ label: `Open it in ${question.program}`, keys: ["y"], outcome: { kind: "edit" } }, { label: "Not now", keys: ["n"], outcome: { kind: "cancelled" } }]
    case "approval":
      return [
        { label: "Yes, this once", keys: ["y"], outcome: decision({ decision: "once" }) },
        ...question.request.canRemember
          ? [
            { label: "Yes, and again in this session", keys: ["s"], outcome: decision({ decision: "session" }) },
            ...(question.request.project === true ? [{ label: "Yes, and in this project from now on", keys: ["p"], outcome: decision({ decision: "project" }) }] : [])
          ]
          : [],
        { label: "No", keys: ["n"], outcome: denied(byUser) },
        { label: "No, and say why", keys: ["r"], outcome: "reason" }
      ]
    case "text":
      return []
  }
}

/** A question as it is asked. One without options to choose from is answered in words. */
export const openDialog = (id: number, question: Question): Dialog => ({
  id,
  question,
  selected: 0,
  field: question.kind === "text" ? fieldOf(question.initial) : question.kind === "choice" && question.options.length === 0 ? fieldOf() : undefined,
  since: undefined
})

/** The choice that is marked: none while keys are not the question's, that of a letter which is held. */
export const marked = (dialog: Dialog, now: number): number => {
  const { beside, held, question, selected } = dialog
  if (isResting(dialog, now) || beside === true) return -1
  return held === undefined ? selected : choicesOf(question).findIndex(({ keys }) => keys.includes(held.letter.toLowerCase()))
}

/** What Escape answers. */
export const dismissed = ({ question }: Dialog): Outcome => question.kind === "approval" ? denied(byUser) : { kind: "cancelled" }

/** The same with a letter that answers held back; undefined where it does not answer. Saying why is no answer yet. */
export const holding = (dialog: Dialog, typed: string, now: number): Dialog | undefined => {
  const chosen = dialog.field !== undefined || typed === "" ? undefined : choicesOf(dialog.question).find(({ keys }) => keys.includes(typed.toLowerCase()))
  return chosen === undefined || chosen.outcome === "reason" ? undefined : { ...dialog, held: { letter: typed, outcome: chosen.outcome, at: now } }
}

/** A dialog after a key: it goes on, it is answered, or the key means nothing to it. */
export const dialogKey = ({ held, ...dialog }: Dialog, key: string, typed: string): Dialog | Outcome | undefined => {
  const { field, question, selected } = dialog
  if (field !== undefined) {
    if (key === "escape") return question.kind === "approval" ? { ...dialog, field: undefined } : dismissed(dialog)
    if (key !== "enter") {
      const next = fieldKey(field, key, typed)
      return next === undefined ? undefined : { ...dialog, field: next }
    }
    if (question.kind === "approval") return denied(field.text.trim() === "" ? byUser : field.text.trim())
    // An editor may give back an empty text; an empty line elsewhere is no answer.
    return field.text.trim() === "" && !(question.kind === "text" && question.initial !== "") ? { kind: "cancelled" } : { kind: "text", text: field.text }
  }
  if (key === "escape") return dismissed(dialog)
  const choices = choicesOf(question)
  const to = (index: number): Dialog => dialog.beside === true ? { ...dialog, beside: false } : { ...dialog, selected: (index + choices.length) % choices.length }
  if (key === "up" || key === "ctrl+p" || key === "shift+tab") return to(selected - 1)
  if (key === "down" || key === "ctrl+n" || key === "tab") return to(selected + 1)
  if (key === "enter" && held !== undefined) return held.outcome
  const chosen = key === "enter" ? choices[selected] : choices.find(({ keys }) => keys.includes(typed.toLowerCase()))
  if (chosen === undefined) return undefined
  return chosen.outcome === "reason" ? { ...dialog, field: fieldOf() } : chosen.outcome
}

/** Whether it is an answer, and not a dialog that goes on. */
export const isOutcome = (value: Dialog | Outcome): value is Outcome => "kind" in value
