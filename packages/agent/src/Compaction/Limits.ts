/** When a conversation is compacted and how much of it stays. Pure; all numbers are tokens. */

/** What a person may set, by the names of the settings file (`agent.*`). */
export interface CompactionSettings {
  /** False: never by itself, only when asked to. Default true. */
  readonly compaction_enabled?: boolean
  /** Kept free for the next answer; default 16,384, but no more than a quarter of the window. */
  readonly reserve_tokens?: number
  /** The end of the conversation that stays word for word; default 20,000. */
  readonly keep_recent_tokens?: number
  /** In place of what is known of the model; 0 for that. */
  readonly context_window?: number
}

/** The numbers of a session. */
export interface CompactionLimits {
  readonly enabled: boolean
  readonly window: number
  /** A request above this is too full. Zero or less when the reserve is larger than the window: then every request is. */
  readonly limit: number
  readonly keepRecent: number
  /**
   * After a compaction, or an attempt at one, this much must be said before the next automatic attempt: what did not
   * help is not done again at every step, and more each time it does not (`growthNeeded`). A quarter of the reserve leaves room for a few attempts before the window is full.
   */
  readonly growth: number
}

/** The longest summary that is asked for of a model with this window. */
export const summaryTokens = (window: number): number => Math.min(4_096, Math.floor(window / 4))

/** The window of a model nothing is known of. */
const defaultWindow = 128_000

/** How much of a conversation stays: about `keep`, and never more than `room` where less can be cut. */
export interface Kept {
  readonly keep: number
  readonly room: number
}

/**
 * How much stays of a conversation of `total` tokens when the rest of a request takes `overhead`. After an `overflow` the
 * provider knows better than any estimate: then the conversation must become clearly shorter, whatever it seems to be.
 */
export const keptOf = ({ keepRecent, limit, window }: CompactionLimits, overhead: number, total: number, overflow: boolean): Kept => {
  const space = limit - overhead
  const recent = space > 0 ? Math.min(keepRecent, Math.floor(space / 2)) : keepRecent
  const keep = Math.max(1, overflow ? Math.min(recent, Math.floor(total / 2)) : recent)
  const most = space > 0 ? space - summaryTokens(window) : Infinity
  return { keep, room: Math.max(keep, overflow ? Math.min(most, Math.floor(total * 0.75)) : most) }
}

/** The numbers from settings and the model's window. */
export const compactionLimits = (settings: CompactionSettings, modelWindow = defaultWindow): CompactionLimits => {
  const window = settings.context_window === undefined || settings.context_window === 0 ? modelWindow : settings.context_window
  const reserve = settings.reserve_tokens ?? Math.min(16_384, Math.floor(window / 4))
  return {
    enabled: settings.compaction_enabled ?? true,
    window,
    limit: window - reserve,
    keepRecent: Math.max(1, settings.keep_recent_tokens ?? 20_000),
    growth: Math.max(1_024, Math.floor(reserve / 4))
  }
}
