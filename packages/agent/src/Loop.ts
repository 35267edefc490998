/**
 * A run: what the user said, then model requests and tool calls until the model has nothing more to call. Whatever ends
 * it (an answer, a failure, an interrupt), every call has its one result in the session and every record its partner.
 */
import { Effect, Exit, Option, Result } from "effect"
import type { AiError } from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import { Hooks } from "@nimlet/extension"
import type { ContentPart, RunPlace } from "@nimlet/protocol"
import { accountOf, isContextOverflow, isImageRefusal, Offline, retryDelay } from "@nimlet/provider"
import { imagesLeftOut, makeTranscript, type SessionUnwritable, type Snapshots, untriedImages } from "@nimlet/session"
import type { Compaction } from "./Compaction.ts"
import { atStart } from "./Course.ts"
import { EventSink } from "./EventSink.ts"
import type { Farewell } from "./Farewell.ts"
import { makeJournal } from "./Journal.ts"
import { makeStep, type StepOptions } from "./Loop/Step.ts"
import type { QueuedText } from "./Queues.ts"
import { type Additions, type Admission, admit, beforeStart, contextAdditions, type InputSource, promptOf } from "./RunEvents.ts"
import { aboutSession } from "./Selection.ts"
import type { SystemText } from "./SystemPrompt.ts"

/** How a run ended. `text` is its answer, empty where it ended with its tools; without `success` an `error` event has said why. */
export interface RunResult {
  readonly success: boolean
  readonly text: string
  /** The call whose result is the answer, where a tool gave it. */
  readonly answer?: string
  /** What is to stand in the composer, unsent: a command's wish, or the message that a fork stands before. */
  readonly editorText?: string
  /** The command that does what this one only told of. */
  readonly nextCommand?: string
}

/** What every run of a session uses. */
export interface LoopOptions extends Omit<StepOptions, "journal" | "transcript"> {
  /** The system text of the next run; extensions may replace its base for one. */
  readonly system: Effect.Effect<SystemText>
  readonly compaction: Compaction
  readonly farewell: Farewell
  /** Keeps what files held before calls changed them. */
  readonly snapshots?: Snapshots
  /** The most requests to the model a run may make; absent for no limit. */
  readonly maxSteps?: number
}

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

const accountOfFailure = (error: AiError | SessionUnwritable): string => error._tag === "SessionUnwritable" ? error.message : accountOf(error)

const untypedMessage = (text: string): Prompt.Message => Prompt.userMessage({ content: [Prompt.textPart({ text, options: Offline.typed(false) })] })

/** The loop of a session. */
export const makeLoop = (options: LoopOptions): Effect.Effect<Loop, never, Hooks> =>
  Effect.gen(function*() {
    const { compaction, events, farewell, queues, session } = options
    const hooks = yield* Hooks
    const transcript = makeTranscript()
    const { ledger } = options
    const journal = makeJournal(session, ledger, options.selection, options.snapshots)
    const maxSteps = options.maxSteps ?? Infinity
    const about = aboutSession(session)
    const runStep = yield* makeStep({ ...options, journal, transcript })

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
        if (step >= maxSteps) return yield* failed(step - 1, `Stopped after ${maxSteps} ${maxSteps === 1 ? "request" : "requests"} to the model, the most this run may make.`)
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
          if (verdict._tag === "GoOn" && verdict.told !== undefined) yield* publish({ type: "diagnostic", level: "warning", message: verdict.told })
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
        const asked = options.selection()
        const refused = isImageRefusal(error) ? untriedImages(yield* session.entries, asked) : 0
        // Once is enough: after that none is left that the model has not answered to.
        if (refused > 0) {
          yield* ledger.append(imagesLeftOut(asked))
          additions = undefined
          yield* publish({ type: "diagnostic", level: "warning", message: `${message}; trying again without ${refused === 1 ? "the image" : `the ${refused} images`} that ${asked.model} has not answered to yet` })
          continue
        }
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
          // What an extension says to the model alone is no message that is shown.
          if (!saved || prompt !== "") yield* publish({ type: "message", role: "user", content: prompt, session_id: session.id, turn_id })
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
