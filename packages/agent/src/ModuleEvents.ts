/**
 * The events that only extensions of seed 004 have: a run, its model steps, messages as they grow and are saved, tools as they
 * run. Where nobody subscribed nothing is made, and an answer's growth is never waited for.
 */
import { Clock, Effect } from "effect"
import type * as Prompt from "effect/ai/Prompt"
import type { Hooks } from "@nimlet/extension"
import { type AnswerDelta, type HookName, type HookPayload, type JsonObject, textOf } from "@nimlet/protocol"
import type { Entries, Session } from "@nimlet/session"
import { History, messageOf, messagesOf } from "./History.ts"
import { changedRequest, requestMessages } from "./RequestMessages.ts"
import { type AboutSession, aboutSession } from "./Selection.ts"
import type { SettledCall, ToolCall } from "./ToolRunner.ts"

/** An answer that comes in, for those who watch. */
export interface AnswerWatch {
  readonly begun: Effect.Effect<void>
  readonly grown: (deltas: ReadonlyArray<AnswerDelta>) => Effect.Effect<void>
}

/** What is told of one session. `since` is a number of entries: what came after them is meant. */
export interface ModuleEvents {
  /** How many entries there are. */
  readonly count: () => number
  readonly runStarted: Effect.Effect<void>
  readonly runEnded: (since: number) => Effect.Effect<void>
  readonly stepStarted: (step: number) => Effect.Effect<void>
  /** `problem` says why there is no answer. */
  readonly stepEnded: (step: number, since: number, problem?: { readonly stopReason: "error" | "aborted"; readonly message: string }) => Effect.Effect<void>
  /** The messages of the next request, where an extension changed them. */
  readonly request: (transcript: (entries: Entries) => ReadonlyArray<Prompt.Message>) => Effect.Effect<ReadonlyArray<Prompt.Message> | undefined>
  /** Undefined when nobody watches. */
  readonly answering: () => AnswerWatch | undefined
  readonly toolStarted: (call: ToolCall) => Effect.Effect<void>
  /** Takes what a tool says; undefined when nobody hears it. */
  readonly toolSaying: (call: ToolCall) => ((delta: string) => Effect.Effect<void>) | undefined
  readonly toolEnded: (settled: Pick<SettledCall, "call" | "result">) => Effect.Effect<void>
}

/** What a tool has said is told up to this length. */
const mostSaid = 50 * 1024

const argumentsOf = (input: unknown): JsonObject => typeof input === "object" && input !== null && !Array.isArray(input) ? { ...input } : {}

/** The events of a session; `history` is told of what is saved by `observed`. */
export const makeModuleEvents = (hooks: Hooks["Service"], about: AboutSession, history: History): ModuleEvents => {
  let answers = 0
  const tell = <N extends HookName>(event: N, payload: () => HookPayload<N>): Effect.Effect<void> =>
    Effect.suspend(() => hooks.subscribed(event) ? Effect.asVoid(hooks.run(event, payload())) : Effect.void)
  const since = (count: number) => messagesOf(history.projected.slice(count))

  return {
    count: () => history.entries.length,
    runStarted: tell("agent_start", () => about),
    runEnded: (count) => tell("agent_end", () => ({ ...about, messages: since(count) })),
    stepStarted: (step) =>
      Effect.suspend(() =>
        hooks.subscribed("step_start")
          ? Effect.flatMap(Clock.currentTimeMillis, (timestamp) => tell("step_start", () => ({ ...about, step, timestamp })))
          : Effect.void),
    stepEnded: (step, count, problem) =>
      tell("step_end", () => {
        const messages = since(count)
        const answer = messages.findLast(({ role }) => role === "assistant") ?? { role: "assistant", content: [] }
        const message = problem === undefined ? answer : { ...answer, stopReason: problem.stopReason, errorMessage: problem.message }
        return { ...about, step, message, tool_results: messages.filter(({ role }) => role === "toolResult") }
      }),
    request: (transcript) =>
      Effect.suspend(() => {
        if (!hooks.subscribed("model_context")) return Effect.undefined
        const { messages, sources } = requestMessages(history)
        return Effect.map(hooks.run("model_context", { messages }), ({ changedBy, payload }) =>
          changedBy.length === 0 ? undefined : changedRequest(payload.messages, sources, transcript))
      }),
    answering: () => {
      const grows = hooks.subscribed("message_update")
      if (!grows && !hooks.subscribed("message_start")) return undefined
      const answer = ++answers
      return {
        begun: Effect.flatMap(Clock.currentTimeMillis, (timestamp) =>
          tell("message_start", () => ({ ...about, message: { role: "assistant", content: [], timestamp } }))),
        grown: (deltas) => grows && deltas.length > 0 ? Effect.asVoid(hooks.run("message_update", { ...about, answer, deltas })) : Effect.void
      }
    },
    toolStarted: ({ id, input, name }) => tell("tool_execution_start", () => ({ tool: name, tool_call_id: id, arguments: argumentsOf(input) })),
    toolSaying: ({ id, input, name }) => {
      if (!hooks.subscribed("tool_execution_update")) return undefined
      let said = ""
      return (delta) =>
        Effect.suspend(() => {
          said = (said + delta).slice(-mostSaid)
          return Effect.asVoid(hooks.run("tool_execution_update", { tool: name, tool_call_id: id, arguments: argumentsOf(input), output: said }))
        })
    },
    toolEnded: ({ call, result }) =>
      tell("tool_execution_end", () => ({
        tool: call.name,
        tool_call_id: call.id,
        output: textOf(result.content),
        is_error: result.isError,
        ...(result.details === undefined ? {} : { details: result.details })
      }))
  }
}

/** The session, with all that is saved in it kept in `history` and told: messages, and a new title. */
export const observed = (session: Session, hooks: Hooks["Service"], history: History): Session => {
  const about = aboutSession(session)
  const saved = Effect.suspend((): Effect.Effect<unknown> => {
    const starts = hooks.subscribed("message_start")
    const ends = hooks.subscribed("message_saved")
    const last = starts || ends ? history.projected.at(-1) : undefined
    const message = last === undefined ? undefined : messageOf(last)
    if (message === undefined) return Effect.void
    // An answer has begun before it is saved.
    const begun = starts && message.role !== "assistant" ? hooks.run("message_start", { ...about, message }) : Effect.void
    return ends ? Effect.andThen(begun, hooks.run("message_saved", { ...about, message })) : begun
  })
  return {
    ...session,
    append: (entry) =>
      session.append(entry).pipe(
        Effect.tap((stored) => {
          history.add(stored)
          if (stored.type !== "name") return saved
          return hooks.subscribed("session_info_changed") ? hooks.run("session_info_changed", { ...about, name: stored.name }) : Effect.void
        }),
        // What the disk refused is in the session all the same.
        Effect.tapError((error) => error.unsaved === 0 ? Effect.void : Effect.map(session.entries, (all) => void history.catchUp(all)))
      )
  }
}
