/** Who answers in a session, and how hooks are told. */
import type { Layer } from "effect"
import type * as LanguageModel from "effect/ai/LanguageModel"
import type { HookPayload } from "@nimlet/protocol"
import type { Session } from "@nimlet/session"

/** Who answers. */
export interface Selection {
  readonly provider: string
  readonly model: string
  /** Its thinking level, empty where none is set. */
  readonly thinking?: string
  /** Its context window in tokens, where it is known. */
  readonly contextWindow?: number
}

/** Who answers, and the way to ask them. */
export interface ChosenModel {
  readonly selection: Selection
  readonly languageModel: LanguageModel.LanguageModel
}

/** A model to change to. */
export interface ModelChoice extends Selection {
  readonly layer: Layer.Layer<LanguageModel.LanguageModel>
}

/** The session part of a payload. */
export type AboutSession = HookPayload<"turn_start">

/** A session as hooks are told of it. */
export const aboutSession = (session: Pick<Session, "id" | "workspace">): AboutSession =>
  ({ session_id: session.id, workspace: session.workspace })

/** A session and who answers in it, as hooks are told. */
export const aboutSelection = (session: Pick<Session, "id" | "workspace">, selection: Selection): HookPayload<"session_start"> => ({
  ...aboutSession(session),
  provider: selection.provider,
  model: selection.model,
  thinking: selection.thinking ?? ""
})
