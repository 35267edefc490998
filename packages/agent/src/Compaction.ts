/**
 * One compaction, from its cause to its record: the earlier part of the conversation becomes a summary, and the end of it
 * stays word for word (seed 000, `session_before_compact` and `session_compact`). The session's history is never
 * rewritten: a record is added to it, or, when something is refused, fails or is interrupted, nothing.
 */
import { Effect, Result, Semaphore } from "effect"
import type * as LanguageModel from "effect/ai/LanguageModel"
import { Hooks } from "@nimlet/extension"
import type { HookCompaction } from "@nimlet/protocol"
import { accountOf } from "@nimlet/provider"
import { type Entries, latestCompaction, type Session, wholeCut } from "@nimlet/session"
import { cutPoint } from "./Compaction/CutPoint.ts"
import { estimate, makeEntryTokens, overheadTokens, tokensFrom } from "./Compaction/Estimate.ts"
import { growthNeeded } from "./Compaction/Growth.ts"
import { compactionLimits, type CompactionSettings, keptOf } from "./Compaction/Limits.ts"
import { summarise } from "./Compaction/Summariser.ts"
import { EventSink } from "./EventSink.ts"
import type { Ledger } from "./Ledger.ts"
import type { ToolSet } from "./ToolSet.ts"

/** What the compaction of a session works with. */
export interface CompactionOptions {
  readonly session: Session
  readonly ledger: Ledger
  /** The whole system text of the next step. */
  readonly system: Effect.Effect<string>
  /** The tools of the next step. */
  readonly tools: Effect.Effect<ToolSet>
  /** The model's context window in tokens, where it is known. */
  readonly contextWindow?: number
  readonly compaction?: CompactionSettings
}

/** What came of a compaction, in a sentence for a person. */
export interface Compacted {
  readonly did_compact: boolean
  /** Whether it was refused or went wrong. One that found nothing to do is neither done nor failed. */
  readonly failed: boolean
  readonly message: string
}

/** The compaction of a session. None of it fails; at most one runs at a time, others wait. */
export interface Compaction {
  /** Before a model step: compacts when the request would be too full. What happened is told as a diagnostic. */
  readonly beforeStep: Effect.Effect<void, never, LanguageModel.LanguageModel>
  /** After the provider found a request too long: whether compacting made it shorter, so that it can be sent again. */
  readonly afterOverflow: Effect.Effect<boolean, never, LanguageModel.LanguageModel>
  /** Because somebody asked for it; `instruction` is what the summary should heed, or empty. Telling them is the caller's. */
  readonly onRequest: (instruction: string) => Effect.Effect<Compacted, never, LanguageModel.LanguageModel>
  /** How full the context is, in tokens. */
  readonly usage: Effect.Effect<{ readonly tokens: number; readonly window: number }>
  /** The same for these entries, by what is known of the rest of a request. */
  readonly usageNow: (entries: Entries) => { readonly tokens: number; readonly window: number }
}

type Cause = "automatic" | "overflow" | "request"

const done: { readonly [C in Cause]: string } = {
  automatic: "Auto-compacted context",
  overflow: "Auto-compacted context, since the provider found the request too long",
  request: "Compacted context"
}

const overflowInstruction = "The conversation no longer fits into the model's context: be brief, and keep above all what the next step needs."

/** How long an interrupt waits for extensions to have seen that nothing came of it. */
const farewell = "500 millis"

/** The compaction of a session. */
export const makeCompaction = (options: CompactionOptions): Effect.Effect<Compaction, never, Hooks> =>
  Effect.gen(function*() {
    const { ledger, session } = options
    const hooks = yield* Hooks
    const one = yield* Semaphore.make(1)
    const limits = compactionLimits(options.compaction ?? {}, options.contextWindow)
    const about = { session_id: session.id, workspace: session.workspace }
    const tokensOf = makeEntryTokens()
    let measured: { readonly tools: ToolSet; readonly system: string; readonly tokens: number } | undefined
    // How many entries there were at the last attempt of which nothing came, and at the last warning.
    let attempted = 0
    let warned = -1

    const look = Effect.gen(function*() {
      const tools = yield* options.tools
      const system = yield* options.system
      if (measured?.tools !== tools || measured.system !== system) measured = { tools, system, tokens: overheadTokens(system, tools) }
      const entries = yield* session.entries
      return { entries, overhead: measured.tokens, now: estimate(entries, measured.tokens, tokensOf) }
    })

    /** The number of entries after the latest compaction or attempt; 0 before any. */
    const lastAttempt = (entries: Entries) => Math.max(attempted, (latestCompaction(entries)?.at ?? -1) + 1)

    /** The part that goes, as the model sums it up; undefined when there is none. Fails with why there is no summary. */
    const sumUp = Effect.fnUntraced(function*(cause: Cause, entries: Entries, overhead: number, instruction: string) {
      const earlier = latestCompaction(entries)
      const start = earlier?.start ?? 0
      const kept = keptOf(limits, overhead, tokensFrom(entries, start, tokensOf), cause === "overflow")
      const cut = cutPoint({ entries, start, ...kept, tokensOf })
      if (cut === undefined) return undefined
      const heed = [cause === "overflow" ? overflowInstruction : "", instruction].filter((text) => text !== "").join("\n")
      const summary = yield* summarise(limits.window, { entries: entries.slice(start, cut), previous: earlier?.summary ?? "", instruction: heed }).pipe(
        Effect.mapError(accountOf)
      )
      return summary === "" ? yield* Effect.fail("the model gave an empty summary") : { summary, first_kept_index: cut }
    })

    const record = Effect.fnUntraced(function*(made: HookCompaction, tokens_before: number) {
      const entries = yield* session.entries
      const first_kept_index = wholeCut(entries)(Math.min(made.first_kept_index, entries.length))
      yield* ledger.append({
        type: "compaction",
        summary: made.summary,
        first_kept_index,
        tokens_before,
        ...(made.details === undefined ? {} : { details: made.details })
      })
      return { ...made, first_kept_index }
    }, Effect.mapError((error) => error.message))

    const attempt = Effect.fnUntraced(function*(cause: Cause, asked: string) {
      const { entries, now, overhead } = yield* look
      const tokens_before = now.tokens
      const gate = yield* hooks.run("session_before_compact", { ...about, instruction: asked, tokens_before, entries })
      if (gate._tag === "Blocked") {
        attempted = entries.length
        return { did_compact: false, failed: true, message: `Compaction refused: ${gate.reason}` }
      }
      const tell = (message: string, made?: HookCompaction) =>
        hooks.run("session_compact", {
          ...about,
          did_compact: made !== undefined,
          summary: made?.summary ?? "",
          first_kept_index: made?.first_kept_index ?? 0,
          tokens_before,
          message
        })
      const making: Effect.Effect<HookCompaction | undefined, string, LanguageModel.LanguageModel> = gate.compaction === undefined
        ? sumUp(cause, entries, overhead, gate.payload.instruction)
        : Effect.succeed(gate.compaction)
      const outcome = yield* making.pipe(
        Effect.onInterrupt(() => Effect.timeoutOption(tell("Compaction interrupted"), farewell)),
        Effect.flatMap((made) => made === undefined ? Effect.succeed(made) : record(made, tokens_before)),
        Effect.result
      )
      const made = Result.isSuccess(outcome) ? outcome.success : undefined
      if (made === undefined) attempted = entries.length
      if (Result.isFailure(outcome)) yield* hooks.run("session_compact_failed", { ...about, error: outcome.failure, tokens_before })
      const did = `${done[cause]}${gate.compaction === undefined ? "" : " with the summary of an extension"}`
      const message = Result.isFailure(outcome) ? `Compaction failed: ${outcome.failure}` : made === undefined ? "Nothing to compact" : did
      const { compaction: other } = yield* tell(message, made)
      // A summary in a reply takes the place of the one just made (seed 001): once, so nobody is asked about it.
      const superseding = other === undefined ? undefined : yield* Effect.result(record(other, tokens_before))
      if (superseding === undefined) return { did_compact: made !== undefined, failed: Result.isFailure(outcome), message }
      return Result.isSuccess(superseding)
        ? { did_compact: true, failed: false, message: `${made === undefined ? "Compacted context" : message}, superseded by the summary of an extension` }
        : { did_compact: made !== undefined, failed: true, message: `${message}; the summary of an extension could not be saved: ${superseding.failure}` }
    })

    /** An attempt and what a person should know of it. */
    const automatic = Effect.fnUntraced(function*(cause: Cause) {
      const { publish } = yield* EventSink
      const before = (yield* look).now.tokens
      const { did_compact, message } = yield* attempt(cause, "")
      const { entries, now } = yield* look
      const full = now.tokens > limits.limit
      if (full || !did_compact) warned = lastAttempt(entries)
      yield* publish({
        type: "diagnostic",
        // Also when all went well: a model's memory has changed, and machine modes do not tell less than a warning.
        level: "warning",
        message: did_compact
          ? `${message}: about ${before} tokens before, ${now.tokens} now${full ? `, which is still over the limit of ${limits.limit}` : ""}`
          : `${message} (about ${now.tokens} tokens, the limit is ${limits.limit})`
      })
      return did_compact
    })

    const beforeStep = Effect.gen(function*() {
      const { entries, now } = yield* look
      if (now.tokens <= limits.limit) return
      const since = lastAttempt(entries)
      const needed = growthNeeded(entries, now.content, limits)
      if (since === 0 || tokensFrom(entries, since, tokensOf) >= needed) return yield* Effect.asVoid(automatic("automatic"))
      if (warned >= since) return
      warned = since
      const { publish } = yield* EventSink
      yield* publish({
        type: "diagnostic",
        level: "warning",
        message: `The context is over its limit right after a compaction (about ${now.tokens} of ${limits.limit} tokens); it is not compacted again before ${needed} more tokens have come`
      })
    })

    return {
      beforeStep: limits.enabled ? one.withPermits(1)(beforeStep) : Effect.void,
      afterOverflow: limits.enabled ? one.withPermits(1)(automatic("overflow")) : Effect.succeed(false),
      onRequest: (instruction) => one.withPermits(1)(attempt("request", instruction)),
      usageNow: (entries) => ({ tokens: estimate(entries, measured?.tokens ?? 0, tokensOf).tokens, window: limits.window }),
      usage: Effect.map(look, ({ now }) => ({ tokens: now.tokens, window: limits.window }))
    }
  })
