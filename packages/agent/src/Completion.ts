/**
 * A question of an extension to the model, outside the conversation (`model.complete`): nothing of it is streamed or
 * saved. With read-only tools the model may look around first, in at most 4 rounds and 8 calls; then it has to answer.
 */
import { Effect, Option, Result } from "effect"
import type { AiError } from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import { type Completion, type CompletionResult, HostRequestFailed } from "@nimlet/extension"
import { type AssistantEntry, type SessionEntry, textOf, type ToolUsePart } from "@nimlet/protocol"
import { accountOf, RequestLimits, retryDelay } from "@nimlet/provider"
import { callsOf, makeTranscript, type Session } from "@nimlet/session"
import { errorResult, type Tool, type ToolResult } from "@nimlet/tools"
import { uniqueIds } from "./CallOrder.ts"
import { EventSink } from "./EventSink.ts"
import { untypedText } from "./RunEvents.ts"
import type { Selection } from "./Selection.ts"
import { toolCall, type ToolRunner } from "./ToolRunner.ts"
import { toolSet } from "./ToolSet.ts"
import { askModel, type TurnRequest } from "./Turn.ts"

/** The built-in tools a completion may use. */
const readOnlyTools = new Set(["glob", "grep", "ls", "read"])
const mostRounds = 4
const mostCalls = 8
const outputBytes = 24_000

/** What a completion works with. */
export interface CompletionOptions {
  readonly session: Session
  readonly selection: () => Selection
  /** The built-in tools. */
  readonly tools: ReadonlyArray<Tool>
  readonly runner: ToolRunner
}

/** The text that fits into the limit, with a word about what does not. */
const bounded = (text: string): string => {
  const bytes = Buffer.from(text)
  return bytes.length <= outputBytes
    ? text
    : `${new TextDecoder().decode(bytes.subarray(0, outputBytes)).replace(/\uFFFD+$/, "")}\n[${bytes.length - outputBytes} bytes left out]`
}

const silent = EventSink.of({ publish: () => Effect.void })

/** Asks, and tries again where that can help. */
const ask = Effect.fnUntraced(function*(request: TurnRequest) {
  for (let failures = 0;;) {
    const outcome: Result.Result<Effect.Success<ReturnType<typeof askModel>>, AiError> = yield* Effect.result(askModel(request))
    if (Result.isSuccess(outcome)) return outcome.success
    const delay = yield* retryDelay(outcome.failure, ++failures)
    if (Option.isNone(delay)) return yield* new HostRequestFailed({ reason: accountOf(outcome.failure), cancelled: false })
    yield* Effect.sleep(delay.value)
  }
})

/** Has the model answer. Tools go through the same hooks as everywhere, but for the extension that asks: it waits for us. */
export const complete = Effect.fnUntraced(function*(
  options: CompletionOptions,
  extension: string,
  completion: Completion
): Effect.fn.Return<CompletionResult, HostRequestFailed, LanguageModel.LanguageModel> {
  const { runner, selection, session } = options
  const { model } = selection()
  const offered = completion.readOnlyTools ? options.tools.filter(({ name }) => readOnlyTools.has(name)) : []
  const tools = toolSet(offered.map((tool) => ({ tool })))
  const place = { session_id: session.id, turn_id: `${session.id}:extension`, run_id: `${session.id}:extension` }
  const transcript = makeTranscript()
  const entries: Array<SessionEntry> = [{ type: "user", role: "user", content: [untypedText(completion.prompt)] }]
  const taken = new Set<string>()
  let used = 0

  const run = (call: ToolUsePart, step: number): Effect.Effect<ToolResult> =>
    used++ >= mostCalls
      ? Effect.succeed(errorResult(`Not run: this question allows ${mostCalls} calls. Answer with what is known.`))
      : Effect.map(
        runner.run(toolCall(call, place, step), tools, undefined, { except: extension }),
        ({ result }) => result
      )

  for (let step = 0;; step++) {
    const withoutCalls = step >= mostRounds || used >= mostCalls
    const answer = yield* ask({ place, step, model, system: completion.systemPrompt, messages: transcript(entries), tools, withoutCalls })
    const entry: AssistantEntry = { type: "assistant", role: "assistant", content: uniqueIds(answer.content, taken) }
    const calls = callsOf(entry)
    if (withoutCalls || calls.length === 0) {
      return { text: textOf(answer.content), model: answer.model, finishReason: answer.finish === "length" ? "length" : "stop" }
    }
    entries.push(entry)
    for (const call of calls) {
      taken.add(call.id)
      const result = yield* run(call, step)
      entries.push({ type: "tool_result", id: call.id, output: bounded(textOf(result.content)), is_error: result.isError, tool: call.name })
    }
  }
}, (effect, _options, _extension, { maxTokens }) =>
  effect.pipe(
    Effect.provideService(EventSink, silent),
    Effect.provideService(RequestLimits, { maxOutputTokens: maxTokens })
  ))
