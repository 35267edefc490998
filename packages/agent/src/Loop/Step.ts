/** A step of a run: one model request and the calls it asks for. */
import { Clock, Effect, Fiber, Option, Ref } from "effect"
import { Hooks } from "@nimlet/extension"
import { type ContentPart, type CustomMessageEntry, type RunPlace, textOf, type ToolUsePart } from "@nimlet/protocol"
import { callsOf, makeTranscript, type Session } from "@nimlet/session"
import { loadValidation } from "../Arguments.ts"
import { atStart, type Course, judge, noteCalls } from "../Course.ts"
import { EventSink } from "../EventSink.ts"
import type { OpenCalls } from "../Journal.ts"
import type { Queues } from "../Queues.ts"
import { type Additions, finishedContent } from "../RunEvents.ts"
import { aboutSession, type Selection, thinkingOf } from "../Selection.ts"
import type { SettledCall } from "../ToolRunner.ts"
import type { ToolSet } from "../ToolSet.ts"
import { costOfUsage } from "../Totals.ts"
import { type Answer, askModel } from "../Turn.ts"
import { type CallsOptions, makeCalls } from "./Calls.ts"

/** What it is made with. */
export interface StepOptions extends CallsOptions {
  readonly session: Session
  /** Who answers; stays the same during a run, but for the level of thinking. */
  readonly selection: () => Selection
  readonly queues: Queues
  /** The tools of the next step. */
  readonly tools: Effect.Effect<ToolSet>
  /** What the model has to be told of the tools that its next request offers; see `ActiveTools`. */
  readonly toolNews: (tools: ToolSet) => CustomMessageEntry | undefined
  readonly transcript: ReturnType<typeof makeTranscript>
}

const textOfCalls = (calls: ReadonlyArray<ToolUsePart>): string => JSON.stringify(calls.map(({ input, name }) => [name, input]))

/** What a run that ends with these results says: what a tool that gives answers gave, the last one. What was said before the calls is no answer. */
const answerOf = (settled: ReadonlyArray<SettledCall>, tools: ToolSet): { readonly text: string; readonly answer?: string } => {
  const last = settled.findLast(({ call, result }) => !result.isError && Option.exists(tools.find(call.name), ({ answers }) => answers === true))
  return last === undefined ? { text: "" } : { text: textOf(last.result.content), answer: last.call.id }
}

/** Takes one step. Fails with what had come of the answer until then. */
export const makeStep = (options: StepOptions) =>
  Effect.gen(function*() {
    const { events, journal, ledger, queues, session, transcript } = options
    const hooks = yield* Hooks
    const about = aboutSession(session)
    const runCalls = makeCalls(options)

    /**
     * Saves and tells an answer. One that would end the run does, unless something waits: that is delivered then. One that an
     * extension emptied is not the model's blank one: `said` is what the model had to say.
     */
    const commit = Effect.fnUntraced(function*(place: RunPlace, answer: Answer, said: string, course: Course) {
      const { publish } = yield* EventSink
      const entry = yield* journal.answer(answer)
      const calls = callsOf(entry)
      const text = textOf(entry.content)
      const [judged, verdict] = judge(course, { calls: calls.length, finish: answer.finish, text: text.trim() === "" ? said : text })
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
    return Effect.fnUntraced(function*(
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
        const { calls, course: judged, ...committed } = yield* commit(place, answer, textOf(said.content), course)
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
  })
