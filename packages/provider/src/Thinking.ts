/** How much a model is to think: the levels, and which of them a model gets that does not have the one asked for. */
import { Context } from "effect"

/** The levels, least first. */
export const thinkingLevels = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const
/** How much a model is to think. */
export type ThinkingLevel = (typeof thinkingLevels)[number]

/** The level of a name, in any case; `none` is another word for `off`. */
export const thinkingLevelOf = (name: string): ThinkingLevel | undefined => {
  const said = name.trim().toLowerCase()
  return said === "none" ? "off" : thinkingLevels.find((level) => level === said)
}

/**
 * What a model with these levels does when `wanted` is asked for: that, else the nearest it has below, else the nearest
 * above (a model that cannot stop thinking thinks as little as it can). Without levels, `off`.
 */
export const clampThinking = (wanted: ThinkingLevel, levels: ReadonlyArray<ThinkingLevel>): ThinkingLevel => {
  const at = thinkingLevels.indexOf(wanted)
  const below = thinkingLevels.slice(0, at + 1).findLast((level) => levels.includes(level))
  return below ?? thinkingLevels.slice(at).find((level) => levels.includes(level)) ?? "off"
}

/** The level for the requests made where it is read; by default each model's own. */
export const Thinking: Context.Reference<ThinkingLevel | undefined> = Context.Reference("@nimlet/provider/Thinking", {
  defaultValue: (): ThinkingLevel | undefined => undefined
})
