/**
 * The one port to whoever sits in front: questions, approvals, notices, status and widget lines. A terminal, an RPC
 * client or a test implements it; without one, the headless default answers at once.
 */
import { Context, Effect } from "effect"
import type { JsonObject } from "@nimlet/protocol"

/** A multiple-choice question. `asker` is the key of the extension, or the tool, that asks. */
export interface Question {
  readonly asker: string
  readonly prompt: string
  readonly options: ReadonlyArray<string>
}

/** What became of a question; `cancelled` when dismissed or when nobody can answer. */
export type Answer = { readonly cancelled: false; readonly answer: string } | { readonly cancelled: true }

/**
 * May this call run? `arguments` are the ones that will really run. `summary` is one line for people, `reason` says why
 * it is asked; with `canRemember: false` only `once` and `deny` are offered.
 */
export interface ApprovalRequest {
  readonly tool: string
  readonly arguments: JsonObject
  readonly summary: string
  readonly reason?: string
  readonly canRemember: boolean
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
 * return without waiting for a person. Keys are `<extension name>:<key>`; an empty text or no lines removes.
 */
export interface FrontendShape {
  /** Whether a person can answer; extensions learn it in `initialize.ui`. */
  readonly interactive: boolean
  readonly question: (question: Question) => Effect.Effect<Answer>
  readonly approve: (request: ApprovalRequest) => Effect.Effect<Approval>
  readonly notify: (level: NoticeLevel, message: string, extension?: string) => Effect.Effect<void>
  readonly status: (key: string, text: string) => Effect.Effect<void>
  readonly widget: (key: string, lines: ReadonlyArray<string>) => Effect.Effect<void>
}

/** Nobody is there: questions are cancelled, calls run, notices go nowhere (seed 002: such modes never ask). */
export const headless: FrontendShape = {
  interactive: false,
  question: () => Effect.succeed({ cancelled: true }),
  approve: () => Effect.succeed({ decision: "once" }),
  notify: () => Effect.void,
  status: () => Effect.void,
  widget: () => Effect.void
}

/** The frontend in force where an effect runs. Provide it with `Effect.provideService` or `Layer.succeed`. */
export const Frontend = Context.Reference<FrontendShape>("@nimlet/extension/Frontend", { defaultValue: () => headless })
