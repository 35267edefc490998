/**
 * A run: what the user said, then model requests and tool calls until the model has nothing more to call. Whatever ends
 * it (an answer, a failure, an interrupt), every call has its one result in the session and every record its partner.
 */
import { Clock, Effect, Exit, Option, Ref, Result } from "effect"
import type { AiError } from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import { Hooks } from "@nimlet/extension"
import { type AssistantEntry, type ChangedFile, type ContentPart, type RunPlace, textOf, type ToolUsePart } from "@nimlet/protocol"
import { accountOf, isContextOverflow, retryDelay } from "@nimlet/provider"
import { callsOf, isAssistant, makeTranscript, type Session, type SessionUnwritable, type Snapshots, unanswered } from "@nimlet/session"
import { errorResult, type FileChange, type ToolResult, versionOf } from "@nimlet/tools"
import { loadValidation } from "./Arguments.ts"
import { groupCalls, uniqueIds } from "./CallOrder.ts"
import type { Compaction } from "./Compaction.ts"
import { EventSink } from "./EventSink.ts"
import type { Queues, QueuedText } from "./Queues.ts"
import { type Additions, admit, beforeStart, contextAdditions, finishedContent, promptOf, untypedText } from "./RunEvents.ts"
import { aboutSession, type Selection } from "./Selection.ts"
import type { SettledCall, ToolCall, ToolRunner } from "./ToolRunner.ts"
import { isReadOnly, type ToolSet } from "./ToolSet.ts"
import { type Answer, askModel } from "./Turn.ts"

/** How a run ended. `text` is the last answer; without `success` an `error` event has said why. */
export interface RunResult {
  readonly success: boolean
  readonly text: string
  /** What is to stand in the composer, unsent: a command's wish, or the message that a fork stands before. */
  readonly editorText?: string
}

/** What every run of a session uses. */
export interface LoopOptions {
  readonly session: Session
  /** Who answers; stays the same during a run. */
  readonly selection: () => Selection
  /** The base system text, which extensions may replace for a run. */
  readonly system: string
  /** System text that stands after it whatever they do. */
  readonly appended: ReadonlyArray<string>
  readonly queues: Queues
  readonly runner: ToolRunner
  readonly compaction: Compaction
  /** The tools of the next step. */
  readonly tools: Effect.Effect<ToolSet>
  /** Keeps what files held before calls changed them. */
  readonly snapshots?: Snapshots
}

/** How many neighbouring read-only calls run at once. */
const parallelCalls = 8

/** How long the run waits for extensions to have seen its end. */
const farewell = "10 seconds"

/** What the model reads of calls that an interrupt caught: running, not yet begun, or cut off with an earlier process. */
const interrupted = {
  running: "Interrupted while the tool ran. What it had done until then stands: look at the current state before trying again.",
  waiting: "Interrupted before tool execution.",
  lost: "Interrupted before a result was saved. The outcome is unknown: look at the current state before trying again."
}

/** A call that was announced: whether its tool has begun to run, and what it has to show already. */
interface OpenCall {
  readonly call: ToolCall
  readonly running: boolean
  readonly shown?: ToolResult
}
type OpenCalls = ReadonlyMap<string, OpenCall>

/** Runs `content` as the user's next words. Interrupting it is the user's interrupt. */
export type Loop = (
  content: ReadonlyArray<ContentPart>
) => Effect.Effect<RunResult, never, LanguageModel.LanguageModel>

/** The loop of a session. */
export const makeLoop = (options: LoopOptions): Effect.Effect<Loop, never, Hooks> =>
  Effect.gen(function*() {
    const { appended, compaction, queues, runner, session, snapshots } = options
    const hooks = yield* Hooks
    const transcript = makeTranscript()
    // Ids of all calls so far; filled from the session when a run begins.
    const taken = new Set<string>()
    const about = aboutSession(session)

    // The files that calls under way have changed.
    const changed = new Map<string, ReadonlyArray<ChangedFile>>()
    const keepFile = Effect.fnUntraced(function*(id: string, { after, before, path }: FileChange) {
      const bytes = typeof before === "string" ? undefined : before
      const kept = bytes === undefined || snapshots === undefined || Option.isNone(session.path) ? undefined : Option.getOrUndefined(yield* snapshots.keep(session.id, bytes))
      const file: ChangedFile = {
        path,
        ...(before === "unknown" ? {} : { before: bytes === undefined ? null : versionOf(bytes) }),
        after,
        ...(kept === undefined ? {} : { snapshot: kept })
      }
      changed.set(id, [...(changed.get(id) ?? []), file])
    })

    const settleCall = Effect.fnUntraced(function*({ call, changedBy, duration_ms, hooks_ms, result }: SettledCall) {
      const { publish } = yield* EventSink
      const output = textOf(result.content)
      const images = result.content.filter((part) => part.type === "image")
      const details = result.details === undefined ? {} : { details: result.details }
      const files = result.isError ? undefined : changed.get(call.id)
      changed.delete(call.id)
      yield* session.append({
        type: "tool_result",
        id: call.id,
        output,
        is_error: result.isError,
        tool: call.name,
        ...(images.length === 0 ? {} : { images }),
        ...details,
        ...(changedBy === undefined ? {} : { changed_by: changedBy }),
        ...(duration_ms === 0 ? {} : { duration_ms }),
        ...(hooks_ms === 0 ? {} : { hooks_ms }),
        ...(files === undefined ? {} : { files })
      })
      yield* publish({
        type: "tool_result",
        ...call.place,
        step: call.step,
        tool_id: call.id,
        tool_name: call.name,
        output,
        is_error: result.isError,
        duration_ms,
        ...details
      })
    })

    const runCalls = Effect.fnUntraced(function*(
      calls: ReadonlyArray<ToolUsePart>,
      tools: ToolSet,
      place: RunPlace,
      step: number,
      open: Ref.Ref<OpenCalls>
    ) {
      const { publish } = yield* EventSink
      const note = (state: OpenCall) => Ref.update(open, (known) => new Map(known).set(state.call.id, state))
      const announce = (call: ToolCall) =>
        note({ call, running: false }).pipe(
          Effect.andThen(publish({ type: "tool_call", ...place, step, tool_id: call.id, tool_name: call.name, input: call.input })),
          Effect.uninterruptible
        )
      for (const group of groupCalls(calls, tools)) {
        const batch = group.map((part): ToolCall => ({ id: part.id, name: part.name, input: part.input, place, step }))
        yield* Effect.forEach(batch, announce, { discard: true })
        const changes = group.length === 1 && !Option.exists(tools.find(batch[0]?.name ?? ""), ({ tool }) => isReadOnly(tool))
        if (changes) yield* session.sync
        const run = (call: ToolCall) => {
          const show = (shown: ToolResult) => note({ call, running: true, shown })
          const settled = runner.run(call, tools, { begun: note({ call, running: true }), left: show, changing: (change) => keepFile(call.id, change) })
          // Results are told in the order of the calls: one that is there early must outlast an interrupt of its neighbours.
          return group.length === 1 ? settled : Effect.tap(settled, ({ result }) => show(result))
        }
        const settled = yield* Effect.forEach(batch, run, { concurrency: group.length === 1 ? 1 : parallelCalls })
        yield* Effect.uninterruptible(Effect.forEach(settled, settleCall, { discard: true }))
      }
    })

    /** Results for the calls of an interrupted step that have none; those that were announced get their record too. */
    const abandon = Effect.fnUntraced(function*(open: Ref.Ref<OpenCalls>) {
      const known = yield* Ref.get(open)
      for (const part of unanswered(yield* session.entries)) {
        const { call, running, shown } = known.get(part.id) ?? {}
        const result = shown ?? errorResult(running === true ? interrupted.running : interrupted.waiting)
        if (call === undefined) yield* session.append({ type: "tool_result", id: part.id, output: textOf(result.content), is_error: true, tool: part.name })
        else yield* settleCall({ call, result, duration_ms: 0, hooks_ms: 0 })
      }
    })

    const repair = Effect.fnUntraced(function*(output: string) {
      for (const call of unanswered(yield* session.entries)) {
        yield* session.append({ type: "tool_result", id: call.id, output, is_error: true, tool: call.name })
      }
    })

    /** Puts texts that waited into the session; from here on they are the user's words. */
    const deliver = Effect.fnUntraced(function*(place: RunPlace, texts: ReadonlyArray<QueuedText>) {
      const { publish } = yield* EventSink
      for (const { content, extension } of texts) {
        const part = extension === undefined ? { type: "text" as const, text: content } : untypedText(content)
        yield* session.append({ type: "user", role: "user", content: [part] })
        yield* publish({ type: "message", role: "user", content, session_id: place.session_id, turn_id: place.turn_id })
      }
    }, Effect.uninterruptible)

    const store = Effect.fnUntraced(function*(answer: Answer) {
      const { model, provider } = options.selection()
      const entry: AssistantEntry = {
        type: "assistant",
        role: "assistant",
        content: uniqueIds(answer.content, taken),
        provider,
        requested_model: model,
        model: answer.model,
        ...(answer.usage === undefined ? {} : { usage: answer.usage }),
        ...(answer.duration_ms === 0 ? {} : { duration_ms: answer.duration_ms })
      }
      yield* session.append(entry)
      for (const call of callsOf(entry)) taken.add(call.id)
      return entry
    })

    /** Saves and tells an answer. One that calls nothing ends the run, unless something waits: that is delivered then. */
    const commit = Effect.fnUntraced(function*(place: RunPlace, answer: Answer) {
      const { publish } = yield* EventSink
      const entry = yield* store(answer)
      const calls = callsOf(entry)
      const text = textOf(entry.content)
      const next = calls.length === 0 && text.trim() !== "" ? yield* queues.takeNext : []
      const done = calls.length === 0 && next.length === 0
      if (text !== "" || calls.length === 0) {
        yield* publish({
          type: "message",
          role: "assistant",
          content: text,
          session_id: place.session_id,
          turn_id: place.turn_id,
          model: answer.model,
          final: done
        })
      }
      yield* deliver(place, next)
      return { calls, done, text }
    }, Effect.uninterruptible)

    /** One model request and the calls it asks for. `prepared` is what extensions add to it. */
    const runStep = Effect.fnUntraced(function*(
      place: RunPlace,
      step: number,
      system: ReadonlyArray<string>,
      prepared: Effect.Effect<Additions>
    ) {
      const { publish } = yield* EventSink
      const { model } = options.selection()
      const started = yield* Clock.currentTimeMillis
      const open = yield* Ref.make<OpenCalls>(new Map())
      const answered = yield* Ref.make<Option.Option<Answer>>(Option.none())
      const body = Effect.gen(function*() {
        const tools = yield* options.tools
        // A model is waited for anyway: what its first call needs is loaded meanwhile.
        if (step === 0) yield* Effect.forkChild(loadValidation)
        const added = yield* prepared
        const messages = transcript(yield* session.entries)
        const said = yield* askModel({
          place,
          step,
          model,
          system: [...system, ...added.system].join("\n\n"),
          messages: added.messages.length === 0 ? messages : [...messages, ...added.messages],
          tools
        })
        const answer = { ...said, content: yield* finishedContent(hooks, about, said.content) }
        yield* Ref.set(answered, Option.some(answer))
        const { calls, done, text } = yield* commit(place, answer)
        yield* runCalls(calls, tools, place, step, open)
        return { answer, text, done }
      })
      yield* publish({ type: "step_start", ...place, step, model })
      return yield* body.pipe(
        Effect.onInterrupt(() => Effect.ignore(abandon(open))),
        Effect.onExit(() =>
          Effect.gen(function*() {
            const answer = yield* Ref.get(answered)
            const usage = Option.flatMapNullishOr(answer, (some) => some.usage)
            yield* publish({
              type: "step_end",
              ...place,
              step,
              model: Option.match(answer, { onNone: () => model, onSome: (some) => some.model }),
              ...(Option.isSome(usage) ? { usage: usage.value } : {}),
              duration_ms: (yield* Clock.currentTimeMillis) - started
            })
          })
        )
      )
    })

    /** Steps until the model calls nothing more. A failed request that may be tried again is a step of its own. */
    const runSteps = Effect.fnUntraced(function*(place: RunPlace, base: string) {
      const { publish } = yield* EventSink
      const failed = (step: number, message: string) =>
        Effect.as(publish({ type: "error", ...place, step, message }), { success: false, text: "" })
      const system = [base, ...appended].filter((text) => text !== "")
      // What extensions added to a request that failed holds for its next attempt, too.
      let additions: Additions | undefined
      const prepared = Effect.suspend(() =>
        additions === undefined
          ? Effect.tap(contextAdditions(hooks, system, session.entries), (made) => Effect.sync(() => (additions = made)))
          : Effect.succeed(additions))
      for (let step = 0, failures = 0, shortened = false;; step++) {
        if (additions === undefined) {
          const steering = yield* Effect.result(Effect.uninterruptible(Effect.flatMap(queues.takeSteering, (texts) => deliver(place, texts))))
          if (Result.isFailure(steering)) return yield* failed(step - 1, steering.failure.message)
        }
        yield* compaction.beforeStep
        const outcome: Result.Result<
          { readonly answer: Answer; readonly text: string; readonly done: boolean },
          AiError | SessionUnwritable
        > = yield* Effect.result(runStep(place, step, system, prepared))
        if (Result.isSuccess(outcome)) {
          failures = 0
          shortened = false
          additions = undefined
          const { answer, done, text } = outcome.success
          if (!done) continue
          if (text.trim() === "") return yield* failed(step, "The model stopped without a user-facing answer.")
          if (answer.finish === "length") {
            yield* publish({ type: "diagnostic", level: "warning", message: "The answer was cut off at the model's output limit." })
          }
          return { success: true, text }
        }
        const error = outcome.failure
        if (error._tag === "SessionUnwritable") return yield* failed(step, error.message)
        // Once an answer: what is still too long when shortened stays so.
        if (!shortened && isContextOverflow(error)) {
          shortened = true
          if (yield* compaction.afterOverflow) continue
        }
        const message = accountOf(error)
        const delay = yield* retryDelay(error, ++failures)
        if (Option.isNone(delay)) return yield* failed(step, message)
        yield* publish({ type: "diagnostic", level: "warning", message: `${message}; trying again` })
        yield* Effect.sleep(delay.value)
      }
    })

    /** From the words that were saved to the last answer: what extensions say before the start, then the steps. */
    const runTurn = Effect.fnUntraced(function*(place: RunPlace, content: ReadonlyArray<ContentPart>) {
      const { messages, system } = yield* beforeStart(hooks, about, content, options.system)
      yield* deliver(place, messages.map((message) => ({ content: message, extension: "" })))
      yield* hooks.run("turn_start", about)
      return yield* runSteps(place, system)
    })

    return Effect.fnUntraced(function*(content) {
      const { publish } = yield* EventSink
      const before = yield* session.entries
      for (const call of before.filter(isAssistant).flatMap(callsOf)) taken.add(call.id)
      const turn_id = `${session.id}:turn:${before.length + 1}`
      const place: RunPlace = { session_id: session.id, turn_id, run_id: turn_id }
      const failed = (message: string) => Effect.as(publish({ type: "error", ...place, step: -1, message }), { success: false, text: "" })

      return yield* Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          yield* queues.begin
          const admission = yield* Effect.exit(restore(admit(hooks, about, content)))
          const admitted = Exit.isSuccess(admission) && admission.value._tag === "Admitted" ? admission.value.content : undefined
          const opened = yield* Effect.result(admitted === undefined ? Effect.void : repair(interrupted.lost).pipe(
            Effect.andThen(session.append({ type: "user", role: "user", content: admitted }))
          ))
          const prompt = promptOf(admitted ?? content)
          yield* publish({ type: "message", role: "user", content: prompt, session_id: session.id, turn_id })
          yield* publish({ type: "run_start", ...place, prompt })
          const exit: Exit.Exit<RunResult> = Exit.isFailure(admission)
            ? Exit.failCause(admission.cause)
            : yield* Effect.exit(restore(
              admission.value._tag === "Refused"
                ? failed(admission.value.reason)
                : Result.isFailure(opened)
                ? failed(opened.failure.message)
                : runTurn(place, admission.value.content).pipe(
                  Effect.catchTag("SessionUnwritable", (error) => failed(error.message))
                )
            ))
          yield* queues.end
          const stopped = Exit.hasInterrupts(exit)
          if (stopped) yield* publish({ type: "error", ...place, step: -1, message: "Interrupted" })
          if (stopped || admitted !== undefined) {
            yield* hooks.run("turn_end", stopped ? { ...about, interrupted: stopped } : about).pipe(Effect.timeoutOption(farewell))
          }
          yield* hooks.run("agent_settled", about).pipe(Effect.timeoutOption(farewell))
          yield* Effect.ignore(session.sync)
          yield* publish({ type: "run_end", ...place, model: options.selection().model })
          return yield* exit
        })
      )
    })
  })
