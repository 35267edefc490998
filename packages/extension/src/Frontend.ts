/**
 * The one port to whoever sits in front: questions, approvals, notices, status and widgets. A terminal, an RPC client or
 * a test implements it; without one, the headless default answers at once.
 */
import { Context, Effect } from "effect"
import type { JsonObject, Segment, WidgetAction, WidgetElement } from "@nimlet/protocol"

/** A multiple-choice question. `asker` is the key of the extension, or the tool, that asks. */
export interface Question {
  readonly asker: string
  readonly prompt: string
  readonly options: ReadonlyArray<string>
}

/** A line of text is wanted; `secret` ones are not shown while typed. */
export interface TextQuestion {
  readonly asker: string
  readonly prompt: string
  readonly secret: boolean
}

/** A text is to be edited; what comes back is the whole of it. */
export interface EditorRequest {
  readonly asker: string
  readonly title: string
  readonly text: string
}

/** What became of a question; `cancelled` when dismissed or when nobody can answer. */
export type Answer = { readonly cancelled: false; readonly answer: string } | { readonly cancelled: true }

/** What became of a yes-or-no question. */
export type Confirmation = { readonly cancelled: false; readonly confirmed: boolean } | { readonly cancelled: true }

/** A widget as it is drawn, whichever way the extension said it. `progress` values lie within 0 and `max`. */
export interface WidgetView {
  readonly title: string
  readonly position: "above_composer" | "modal"
  readonly content: ReadonlyArray<WidgetElement>
  readonly actions: ReadonlyArray<WidgetAction>
}

/**
 * May this call run? `arguments` are the ones that will really run. `summary` is one line for people, `reason` says why
 * it is asked, `preview` what it would change, as lines with `-` and `+`. With `canRemember: false` only `once` and `deny`
 * are offered, and `project` only where it says so.
 */
export interface ApprovalRequest {
  readonly tool: string
  readonly arguments: JsonObject
  readonly summary: string
  readonly reason?: string
  readonly preview?: string
  readonly canRemember: boolean
  readonly project?: boolean
}

/** The decision on a call, and for how long it holds. */
export type Approval =
  | { readonly decision: "once" | "session" | "project" }
  | { readonly decision: "deny"; readonly reason: string }

/** How a notice is styled. */
export type NoticeLevel = "info" | "warning" | "error"

/**
 * What the host and the agent need of a frontend. Every method may be called from several fibers at once; questions
 * and approvals queue inside the frontend, and interrupting one withdraws it. `notify`, `status` and `widget` must
 * return without waiting for a person. Keys are `<extension name>:<key>`; no segments or no widget removes.
 */
export interface FrontendShape {
  /** Whether a person can answer; extensions learn it in `initialize.ui`. */
  readonly interactive: boolean
  readonly question: (question: Question) => Effect.Effect<Answer>
  readonly confirm: (question: Omit<Question, "options">) => Effect.Effect<Confirmation>
  readonly input: (question: TextQuestion) => Effect.Effect<Answer>
  readonly editor: (request: EditorRequest) => Effect.Effect<Answer>
  readonly approve: (request: ApprovalRequest) => Effect.Effect<Approval>
  readonly notify: (level: NoticeLevel, message: string, extension?: string) => Effect.Effect<void>
  readonly status: (key: string, segments: ReadonlyArray<Segment>) => Effect.Effect<void>
  readonly widget: (key: string, widget: WidgetView | undefined) => Effect.Effect<void>
}

/** Nobody is there: questions are cancelled, calls run, notices go nowhere (seed 002: such modes never ask). */
export const headless: FrontendShape = {
  interactive: false,
  question: () => Effect.succeed({ cancelled: true }),
  confirm: () => Effect.succeed({ cancelled: true }),
  input: () => Effect.succeed({ cancelled: true }),
  editor: () => Effect.succeed({ cancelled: true }),
  approve: () => Effect.succeed({ decision: "once" }),
  notify: () => Effect.void,
  status: () => Effect.void,
  widget: () => Effect.void
}

/** The frontend in force where an effect runs. Provide it with `Effect.provideService` or `Layer.succeed`. */
export const Frontend = Context.Reference<FrontendShape>("@nimlet/extension/Frontend", { defaultValue: () => headless })
