/**
 * A run: what the user said, then model requests and tool calls until the model has nothing more to call. Whatever ends
 * it (an answer, a failure, an interrupt), every call has its one result in the session and every record its partner.
 */
import { Clock, Effect, Exit, Fiber, Option, Ref, Result } from "effect"
import type { AiError } from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import { Hooks } from "@nimlet/extension"
import { type ContentPart, type CustomMessageEntry, type RunPlace, textOf, type ToolUsePart } from "@nimlet/protocol"
import { accountOf, isContextOverflow, Offline, retryDelay } from "@nimlet/provider"
import { callsOf, makeTranscript, type Session, type SessionUnwritable, type Snapshots } from "@nimlet/session"
import { errorResult } from "@nimlet/tools"
import { loadValidation } from "./Arguments.ts"
import { groupCalls } from "./CallOrder.ts"
import type { Compaction } from "./Compaction.ts"
import { atStart, type Course, judge, noteCalls } from "./Course.ts"
import { EventSink } from "./EventSink.ts"
import type { Farewell } from "./Farewell.ts"
import { makeJournal, type OpenCall, type OpenCalls } from "./Journal.ts"
import type { Ledger } from "./Ledger.ts"
import type { QueuedText, Queues } from "./Queues.ts"
import type { ModuleEvents } from "./ModuleEvents.ts"
import { type Additions, type Admission, admit, beforeStart, contextAdditions, finishedContent, type InputSource, promptOf } from "./RunEvents.ts"
import { aboutSession, type Selection, thinkingOf } from "./Selection.ts"
import type { SystemText } from "./SystemPrompt.ts"
import { type SettledCall, toolCall, type ToolCall, type ToolRunner } from "./ToolRunner.ts"
import { isReadOnly, type ToolSet } from "./ToolSet.ts"
import { costOfUsage } from "./Totals.ts"
import { type Answer, askModel } from "./Turn.ts"

/** How a run ended. `text` is its answer, empty where it ended with its tools; without `success` an `error` event has said why. */
export interface RunResult {
  readonly success: boolean
  readonly text: string
  /** The call whose result is the answer, where a tool gave it. */
  readonly answer?: string
  /** What is to stand in the composer, unsent: a command's wish, or the message that a fork stands before. */
  readonly editorText?: string
}

/** What every run of a session uses. */
export interface LoopOptions {
  readonly session: Session
  readonly ledger: Ledger
  /** Who answers; stays the same during a run, but for the level of thinking. */
  readonly selection: () => Selection
  /** The system text of the next run; extensions may replace its base for one. */
  readonly system: Effect.Effect<SystemText>
  readonly queues: Queues
  readonly events: ModuleEvents
  readonly runner: ToolRunner
  readonly compaction: Compaction
  readonly farewell: Farewell
  /** The tools of the next step. */
  readonly tools: Effect.Effect<ToolSet>
  /** What the model has to be told of the tools that its next request offers; see `ActiveTools`. */
  readonly toolNews: (tools: ToolSet) => CustomMessageEntry | undefined
  /** Keeps what files held before calls changed them. */
  readonly snapshots?: Snapshots
  /** The most requests to the model a run may make; absent for no limit. */
  readonly maxSteps?: number
}

/** How many neighbouring calls run at once. */
const parallelCalls = 8

/** Where a run's words come from. */
export interface Origin {
  /** The session has them already, as an extension's own message. */
  readonly saved?: boolean
  readonly source?: InputSource
}

/** The ends that extensions have not been told of: of the step under way, and of the run. */
interface Told {
  step?: Effect.Effect<void> | undefined
  run?: Effect.Effect<void>
}

/** Runs `content` as the user's next words. Interrupting it is the user's interrupt. */
export type Loop = (
  content: ReadonlyArray<ContentPart>,
  origin?: Origin
) => Effect.Effect<RunResult, never, LanguageModel.LanguageModel>

const interruptedResult = errorResult("Interrupted")

const accountOfFailure = (error: AiError | SessionUnwritable): string => error._tag === "SessionUnwritable" ? error.message : accountOf(error)

const untypedMessage = (text: string): Prompt.Message => Prompt.userMessage({ content: [Prompt.textPart({ text, options: Offline.typed(false) })] })

const textOfCalls = (calls: ReadonlyArray<ToolUsePart>): string => JSON.stringify(calls.map(({ input, name }) => [name, input]))

/** The answer of a run that ends with these results: what a tool that gives answers gave, the last one. What was said before the calls is none. */
const answerOf = (settled: ReadonlyArray<SettledCall>, tools: ToolSet): Pick<RunResult, "answer" | "text"> => {
  const last = settled.findLast(({ call, result }) => !result.isError && Option.exists(tools.find(call.name), ({ answers }) => answers === true))
  return last === undefined ? { text: "" } : { text: textOf(last.result.content), answer: last.call.id }
}

/** The loop of a session. */
export const makeLoop = (options: LoopOptions): Effect.Effect<Loop, never, Hooks> =>
  Effect.gen(function*() {
    const { compaction, events, farewell, queues, runner, session } = options
    const hooks = yield* Hooks
    const transcript = makeTranscript()
    const { ledger } = options
    const journal = makeJournal(session, ledger, options.selection, options.snapshots)
    const maxSteps = options.maxSteps ?? Infinity
    const about = aboutSession(session)

    const runCalls = Effect.fnUntraced(function*(
      calls: ReadonlyArray<ToolUsePart>,
      tools: ToolSet,
      place: RunPlace,
      step: number,
      open: Ref.Ref<OpenCalls>
    ) {
      const { publish } = yield* EventSink
      const all: Array<SettledCall> = []
      const note = (state: OpenCall) => Ref.update(open, (known) => new Map(known).set(state.call.id, state))
      const announce = (call: ToolCall) =>
        note({ call, running: false }).pipe(
          Effect.andThen(publish({ type: "tool_call", ...place, step, tool_id: call.id, tool_name: call.name, input: call.input })),
          Effect.andThen(events.toolStarted(call)),
          Effect.uninterruptible
        )
      for (const group of groupCalls(calls, tools)) {
        const batch = group.map((part) => toolCall(part, place, step))
        yield* Effect.forEach(batch, announce, { discard: true })
        const changes = batch.some(({ name }) => !Option.exists(tools.find(name), ({ tool }) => isReadOnly(tool)))
        if (changes) yield* ledger.sync
        // Saved at once, so that nothing that is done is lost with the process; told in the order of the calls.
        const run = (call: ToolCall) =>
          Effect.uninterruptibleMask((restore) =>
            restore(runner.run(call, tools, {
              begun: note({ call, running: true }),
              left: (shown) => note({ call, running: true, shown }),
              saying: events.toolSaying(call),
              changing: (change) => journal.changing(call.id, change)
            })).pipe(
              Effect.onInterrupt(() => events.toolEnded({ call, result: interruptedResult })),
              Effect.tap(events.toolEnded),
              Effect.tap((settled) => Effect.andThen(journal.result(settled), note({ call, running: true, saved: settled })))
            ))
        const settled = yield* Effect.forEach(batch, run, { concurrency: group.length === 1 ? 1 : parallelCalls })
        const tell = (one: SettledCall) =>
          Effect.andThen(journal.tell(one), Ref.update(open, (known) => new Map([...known].filter(([id]) => id !== one.call.id))))
        yield* Effect.uninterruptible(Effect.forEach(settled, tell, { discard: true }))
        all.push(...settled)
      }
      return all
    })

    /** Saves and tells an answer. One that would end the run does, unless something waits: that is delivered then. */
    const commit = Effect.fnUntraced(function*(place: RunPlace, answer: Answer, course: Course) {
      const { publish } = yield* EventSink
      const entry = yield* journal.answer(answer)
      const calls = callsOf(entry)
      const text = textOf(entry.content)
      const [judged, verdict] = judge(course, { calls: calls.length, finish: answer.finish, text })
      const next = verdict._tag === "Done" ? yield* queues.takeNext : []
      const done = verdict._tag !== "GoOn" && next.length === 0
      if (text !== "" || done) {
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
      yield* journal.deliver(place, next)
      return { calls, done, text, verdict, course: next.length > 0 ? atStart : judged }
    }, Effect.uninterruptible)

    /** Whether results end the run: all of them say so, and nothing waits that would be delivered then. */
    const endsWith = Effect.fnUntraced(function*(place: RunPlace, settled: ReadonlyArray<SettledCall>) {
      if (settled.length === 0 || !settled.every(({ result }) => result.terminate === true)) return false
      const next = yield* queues.takeNext
      yield* journal.deliver(place, next)
      return next.length === 0
    }, Effect.uninterruptible)

    /** One model request and the calls it asks for. `prepared` is what is added to it, for this request alone. */
    const runStep = Effect.fnUntraced(function*(
      place: RunPlace,
      step: number,
      system: ReadonlyArray<string>,
      prepared: Effect.Effect<Additions>,
      course: Course
    ) {
      const { publish } = yield* EventSink
      const { model, prices } = options.selection()
      const started = yield* Clock.currentTimeMillis
      const open = yield* Ref.make<OpenCalls>(new Map())
      let left: ReadonlyArray<ContentPart> = []
      const answered = yield* Ref.make<Option.Option<Answer>>(Option.none())
      const body = Effect.gen(function*() {
        const tools = yield* options.tools
        const news = options.toolNews(tools)
        if (news !== undefined) yield* ledger.append(news)
        // A model is waited for anyway: what its first call needs is loaded meanwhile.
        if (step === 0) yield* Effect.forkChild(loadValidation)
        const added = yield* prepared
        const messages = added.replaced ?? transcript(yield* session.entries)
        const draft = journal.drafting()
        const keeping = yield* Effect.forkChild(draft.keep)
        const said = yield* askModel({
          place,
          step,
          model,
          thinking: thinkingOf(options.selection()).level,
          system: [...system, ...added.system].join("\n\n"),
          messages: added.messages.length === 0 ? messages : [...messages, ...added.messages],
          tools,
          came: draft.came,
          watch: events.answering(),
          left: (content) => void (left = content)
        }).pipe(Effect.ensuring(Fiber.interrupt(keeping)))
        const answer = { ...said, content: yield* finishedContent(hooks, about, said.content) }
        yield* Ref.set(answered, Option.some(answer))
        const { calls, course: judged, ...committed } = yield* commit(place, answer, course)
        const settled = yield* runCalls(calls, tools, place, step, open)
        const [noted, stuck] = calls.length === 0
          ? [judged, undefined]
          : noteCalls(judged, textOfCalls(calls), settled.every(({ result }) => result.isError))
        const ended = yield* endsWith(place, settled)
        return { ...committed, done: committed.done || ended, answer: ended ? answerOf(settled, tools) : undefined, course: noted, stuck }
      })
      yield* publish({ type: "step_start", ...place, step, model })
      return yield* body.pipe(
        Effect.onInterrupt(() => Effect.ignore(Effect.andThen(journal.abandon(open), journal.cut(left)))),
        Effect.mapError((error) => ({ error, left })),
        Effect.onExit(() =>
          Effect.gen(function*() {
            const answer = yield* Ref.get(answered)
            const usage = Option.flatMapNullishOr(answer, (some) => some.usage)
            yield* publish({
              type: "step_end",
              ...place,
              step,
              model: Option.match(answer, { onNone: () => model, onSome: (some) => some.model }),
              ...(Option.isSome(usage) ? { usage: prices === undefined ? usage.value : { ...usage.value, cost: costOfUsage(usage.value, prices) } } : {}),
              duration_ms: (yield* Clock.currentTimeMillis) - started
            })
          })
        )
      )
    })

    /** What extensions add to a request, or make of it. */
    const prepare = Effect.fnUntraced(function*(system: ReadonlyArray<string>) {
      const added = yield* contextAdditions(hooks, system, session.entries)
      const replaced = yield* events.request(transcript)
      return replaced === undefined ? added : { ...added, replaced }
    })

    /** Steps until the model calls nothing more. A failed request that may be tried again is a step of its own. */
    const runSteps = Effect.fnUntraced(function*(place: RunPlace, system: ReadonlyArray<string>, told: Told) {
      const { publish } = yield* EventSink
      const failed = (step: number, message: string) =>
        Effect.as(publish({ type: "error", ...place, step, message }), { success: false, text: "" })
      // What extensions added to a request that failed holds for its next attempt, too.
      let additions: Additions | undefined
      let nudge: ReadonlyArray<Prompt.Message> = []
      let said = ""
      const prepared = Effect.suspend(() =>
        additions === undefined
          ? Effect.tap(prepare(system), (made) => Effect.sync(() => (additions = made)))
          : Effect.succeed(additions)).pipe(Effect.map((made): Additions => nudge.length === 0 ? made : { ...made, messages: [...made.messages, ...nudge] }))
      for (let step = 0, failures = 0, shortened = false, course = atStart;; step++) {
        if (additions === undefined) {
          const steering = yield* Effect.uninterruptible(Effect.tap(queues.takeSteering, (texts) => journal.deliver(place, texts)))
          if (steering.length > 0) nudge = []
        }
        if (step >= maxSteps) return yield* failed(step - 1, `Stopped after ${maxSteps} requests to the model, the most this run may make.`)
        yield* compaction.beforeStep
        const since = events.count()
        yield* events.stepStarted(step)
        told.step = events.stepEnded(step, since, { stopReason: "aborted", message: "Interrupted" })
        const outcome = yield* Effect.result(runStep(place, step, system, prepared, course))
        told.step = undefined
        yield* events.stepEnded(step, since, Result.isSuccess(outcome) ? undefined : { stopReason: "error", message: accountOfFailure(outcome.failure.error) })
        if (Result.isSuccess(outcome)) {
          failures = 0
          shortened = false
          additions = undefined
          const { answer, done, stuck, text, verdict } = outcome.success
          // Pieces of one answer that the output limit cut apart are one again.
          said = course.cuts > 0 ? said + text : text
          course = outcome.success.course
          if (stuck !== undefined) return yield* failed(step, stuck)
          if (verdict._tag === "Fail") return yield* failed(step, verdict.why)
          nudge = verdict._tag === "GoOn" && verdict.say !== undefined ? [untypedMessage(verdict.say)] : []
          if (verdict.told !== undefined) yield* publish({ type: "diagnostic", level: "warning", message: verdict.told })
          if (done) return { success: true, ...answer ?? { text: said } }
          continue
        }
        const { error, left } = outcome.failure
        if (error._tag === "SessionUnwritable") return yield* failed(step, error.message)
        // Once an answer: what is still too long when shortened stays so.
        if (!shortened && isContextOverflow(error)) {
          shortened = true
          if (yield* compaction.afterOverflow) continue
        }
        const message = accountOf(error)
        const delay = yield* retryDelay(error, ++failures)
        if (Option.isNone(delay)) return yield* Effect.andThen(journal.cut(left), failed(step, message))
        yield* publish({ type: "diagnostic", level: "warning", message: `${message}; trying again` })
        yield* Effect.sleep(delay.value)
      }
    })

    /** From the words that were saved to the last answer: what extensions say before the start, then the steps. */
    const runTurn = Effect.fnUntraced(function*(place: RunPlace, content: ReadonlyArray<ContentPart>, told: Told, since: number) {
      const { appended, base } = yield* options.system
      const { messages, system } = yield* beforeStart(hooks, about, content, base)
      const kept = yield* queues.takeLater
      yield* journal.deliver(place, [...kept, ...messages.map(({ content, custom_type, details, display = true }): QueuedText => ({
        content,
        extension: "",
        ...(custom_type === undefined ? {} : { custom: { type: custom_type, display, ...(details === undefined ? {} : { details }) } })
      }))])
      told.run = events.runEnded(since)
      yield* events.runStarted
      yield* hooks.run("turn_start", about)
      return yield* runSteps(place, [system, ...appended].filter((text) => text !== ""), told)
    })

    return Effect.fnUntraced(function*(content, { saved = false, source } = {}) {
      const { publish } = yield* EventSink
      const before = yield* session.entries
      const turn_id = `${session.id}:turn:${before.length + 1}`
      const place: RunPlace = { session_id: session.id, turn_id, run_id: turn_id }
      const told: Told = {}
      const failed = (message: string) => Effect.as(publish({ type: "error", ...place, step: -1, message }), { success: false, text: "" })

      return yield* Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          yield* queues.begin
          const admission = yield* Effect.exit(restore(saved ? Effect.succeed<Admission>({ _tag: "Admitted", content }) : admit(hooks, about, content, source)))
          const admitted = Exit.isSuccess(admission) && admission.value._tag === "Admitted" ? admission.value.content : undefined
          const opened = yield* Effect.result(admitted === undefined ? Effect.void : saved ? journal.repair : journal.repair.pipe(
            Effect.andThen(ledger.append({ type: "user", role: "user", content: admitted }))
          ))
          const prompt = promptOf(admitted ?? content)
          yield* publish({ type: "message", role: "user", content: prompt, session_id: session.id, turn_id })
          yield* publish({ type: "run_start", ...place, prompt })
          const exit: Exit.Exit<RunResult> = Exit.isFailure(admission)
            ? Exit.failCause(admission.cause)
            : yield* Effect.exit(restore(
              admission.value._tag === "Refused"
                ? failed(admission.value.reason)
                : admission.value._tag === "Handled"
                ? Effect.succeed({ success: true, text: "" })
                : Result.isFailure(opened)
                ? failed(opened.failure.message)
                : runTurn(place, admission.value.content, told, before.length).pipe(
                  Effect.catchTag("SessionUnwritable", (error) => failed(error.message))
                )
            ))
          yield* queues.end
          const stopped = Exit.hasInterrupts(exit)
          const interrupt = publish({ type: "error", ...place, step: -1, message: "Interrupted" })
          if (stopped) yield* interrupt
          const halted = yield* farewell.ofRun({ first: Object.values(told).filter((end) => end !== undefined), turned: stopped || admitted !== undefined, stopped, restore })
          if (halted && !stopped) yield* interrupt
          // The disk may take as long as a short answer. Whoever is told of the end has it from the system, and the next call
          // that changes something waits for the disk, as the end of the session does.
          yield* ledger.startSync
          const unsaved = yield* ledger.unsaved
          if (unsaved !== undefined) yield* publish({ type: "error", ...place, step: -1, message: unsaved })
          const { answer } = Exit.isSuccess(exit) ? exit.value : {}
          yield* publish({ type: "run_end", ...place, model: options.selection().model, ...(answer === undefined ? {} : { answer }) })
          const result = yield* exit
          return unsaved === undefined ? result : { ...result, success: false }
        })
      )
    })
  })
