/** Who answers in a session, and how hooks are told. */
import type { Layer } from "effect"
import type * as LanguageModel from "effect/ai/LanguageModel"
import type { HookPayload } from "@nimlet/protocol"
import { clampThinking, type Prices, type ThinkingLevel, thinkingLevels } from "@nimlet/provider"
import type { Session } from "@nimlet/session"

/** Who answers. */
export interface Selection {
  readonly provider: string
  readonly model: string
  /** The level of thinking that was asked for; where none was, the model's own. It need not have that one. */
  readonly thinking?: ThinkingLevel
  /** The levels it has, least first; absent where that is not known. */
  readonly thinkingLevels?: ReadonlyArray<ThinkingLevel>
  /** Its context window in tokens, where it is known. */
  readonly contextWindow?: number
  /** What it costs, where that is known. */
  readonly prices?: Prices
}

/** How much who answers thinks, and what else there is to choose from. */
export interface ThinkingState {
  /** What was asked for; absent where nothing was, and the model does as it does by itself. */
  readonly wanted?: ThinkingLevel
  /** What it comes to with this model. */
  readonly level?: ThinkingLevel
  /** The levels of the model, least first; all there are where it is not known which it has. */
  readonly levels: ReadonlyArray<ThinkingLevel>
}

/** How much who answers thinks. */
export const thinkingOf = ({ thinking, thinkingLevels: levels = thinkingLevels }: Selection): ThinkingState =>
  thinking === undefined ? { levels } : { wanted: thinking, level: clampThinking(thinking, levels), levels }

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
  thinking: thinkingOf(selection).level ?? ""
})
