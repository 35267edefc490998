/** What a run writes into its session: answers, while they come and whole, results, and what stands for those that were cut. */
import { Duration, Effect, Latch, Option, Ref } from "effect"
import { type AssistantEntry, type ChangedFile, type ContentPart, type CustomMessageEntry, type RunPlace, textOf } from "@nimlet/protocol"
import { callsOf, type DraftPiece, isAssistant, type Session, type SessionUnwritable, type Snapshots, unanswered } from "@nimlet/session"
import { errorResult, type FileChange, type ToolResult, versionOf } from "@nimlet/tools"
import { uniqueIds } from "./CallOrder.ts"
import { EventSink } from "./EventSink.ts"
import type { Ledger } from "./Ledger.ts"
import type { Custom, QueuedText } from "./Queues.ts"
import { untypedText } from "./RunEvents.ts"
import type { Selection } from "./Selection.ts"
import type { SettledCall, ToolCall } from "./ToolRunner.ts"
import type { Answer, Piece } from "./Turn.ts"

/** What the model reads of calls that an interrupt caught: running, not yet begun, or cut off with an earlier process. */
const interrupted = {
  running: "Interrupted while the tool ran. What it had done until then stands: look at the current state before trying again.",
  waiting: "Interrupted before tool execution.",
  lost: "Interrupted before a result was saved. The outcome is unknown: look at the current state before trying again."
}

/**
 * A call that was announced: whether its tool has begun to run, what it has to show already, and its result once that is
 * saved.
 */
export interface OpenCall {
  readonly call: ToolCall
  readonly running: boolean
  readonly shown?: ToolResult
  readonly saved?: SettledCall
}
/** A message of an extension's own kind. */
export const customEntry = (content: string, { details, display, images = [], type }: Custom, extension?: string): CustomMessageEntry => ({
  type: "custom_message",
  custom_type: type,
  content: [...(content === "" ? [] : [untypedText(content)]), ...images],
  display,
  ...(extension === undefined || extension === "" ? {} : { extension }),
  ...(details === undefined ? {} : { details })
})

/** The announced calls of a step whose results nobody was told yet, by id. */
export type OpenCalls = ReadonlyMap<string, OpenCall>

/** How often what has come of an answer is written down: what a killed process may have lost of it. */
const draftPause = Duration.millis(200)

/** An answer that is coming, written down now and then. */
export interface Drafting {
  readonly came: (piece: Piece) => void
  /** Writes until it is interrupted. */
  readonly keep: Effect.Effect<never>
}

/** Writes into a session. Fails with `SessionUnwritable` only for what cannot even be kept in memory. */
export interface Journal {
  /** Readies it for a run: calls that an earlier process left open get a result. */
  readonly repair: Effect.Effect<void, SessionUnwritable>
  /** Keeps an answer while it comes, for the case that nobody is left to save it. */
  readonly drafting: () => Drafting
  /** Saves an answer, its calls under ids of their own. */
  readonly answer: (answer: Answer) => Effect.Effect<AssistantEntry, SessionUnwritable>
  /** Saves what had come of an answer that was cut off, where that is anything to read. */
  readonly cut: (content: ReadonlyArray<ContentPart>) => Effect.Effect<void, SessionUnwritable>
  /** Keeps what a file held, for the result of the call that is about to change it. */
  readonly changing: (call: string, change: FileChange) => Effect.Effect<void>
  /** Saves the result of a call. Calls that run together are saved as they end; who reads the session goes by their ids. */
  readonly result: (settled: SettledCall) => Effect.Effect<void, SessionUnwritable>
  /** Tells of a result that was saved. */
  readonly tell: (settled: SettledCall) => Effect.Effect<void>
  /** Results for the calls of an interrupted step that have none. Each call that was announced gets its record, in order. */
  readonly abandon: (open: Ref.Ref<OpenCalls>) => Effect.Effect<void, SessionUnwritable>
  /** Puts texts that waited into the session; from here on they are the user's words. */
  readonly deliver: (place: RunPlace, texts: ReadonlyArray<QueuedText>) => Effect.Effect<void, SessionUnwritable>
}

/** The journal of a session, written by `ledger`; `snapshots` keep what files held. */
export const makeJournal = (session: Session, ledger: Ledger, selection: () => Selection, snapshots?: Snapshots): Journal => {
  // The files that calls under way have changed.
  const changed = new Map<string, ReadonlyArray<ChangedFile>>()
  const { append } = ledger

  // Ids of the calls in as many entries as were looked through for them.
  const taken = new Set<string>()
  let looked = 0
  const idsTaken = Effect.map(session.entries, (entries) => {
    for (; looked < entries.length; looked++) {
      const entry = entries[looked]
      if (entry !== undefined && isAssistant(entry)) for (const call of callsOf(entry)) taken.add(call.id)
    }
    return taken
  })

  const result: Journal["result"] = ({ call, changedBy, duration_ms, hooks_ms, result }) => {
    const output = textOf(result.content)
    const images = result.content.filter((part) => part.type === "image")
    const details = result.details === undefined ? {} : { details: result.details }
    const terminate = result.terminate === true ? { terminate: true as const } : {}
    const files = result.isError ? undefined : changed.get(call.id)
    changed.delete(call.id)
    return append({
      type: "tool_result",
      id: call.id,
      output,
      is_error: result.isError,
      tool: call.name,
      ...(images.length === 0 ? {} : { images }),
      ...details,
      ...terminate,
      ...(changedBy === undefined ? {} : { changed_by: changedBy }),
      ...(duration_ms === 0 ? {} : { duration_ms }),
      ...(hooks_ms === 0 ? {} : { hooks_ms }),
      ...(files === undefined ? {} : { files })
    })
  }
  const tell: Journal["tell"] = ({ call, duration_ms, result }) =>
    Effect.flatMap(EventSink, ({ publish }) =>
      publish({
        type: "tool_result",
        ...call.place,
        step: call.step,
        tool_id: call.id,
        tool_name: call.name,
        output: textOf(result.content),
        is_error: result.isError,
        duration_ms,
        ...(result.details === undefined ? {} : { details: result.details }),
        ...(result.terminate === true ? { terminate: true as const } : {})
      }))

  const answeredBy = (model: string) => {
    const { model: requested_model, provider } = selection()
    return { type: "assistant", role: "assistant", provider, requested_model, model } as const
  }

  return {
    drafting: () => {
      const { model: requested_model, provider } = selection()
      const draft = session.draft({ provider, requested_model, model: requested_model })
      let waiting: Array<DraftPiece> = []
      const some = Latch.makeUnsafe()
      const write = Effect.suspend(() => {
        const pieces = waiting
        waiting = []
        some.closeUnsafe()
        return draft.add(pieces)
      })
      return {
        came: ({ delta, kind }) => {
          const last = waiting.at(-1)
          if (last?.kind === kind) waiting[waiting.length - 1] = { kind, text: last.text + delta }
          else waiting.push({ kind, text: delta })
          if (waiting.length === 1) some.openUnsafe()
        },
        // A model that says nothing yet costs nothing.
        keep: Effect.forever(some.await.pipe(Effect.andThen(Effect.sleep(draftPause)), Effect.andThen(write)))
      }
    },
    result,
    tell,
    changing: Effect.fnUntraced(function*(call, { after, before, path }) {
      const bytes = typeof before === "string" ? undefined : before
      const kept = bytes === undefined || snapshots === undefined || Option.isNone(session.path) ? undefined : Option.getOrUndefined(yield* snapshots.keep(session.id, bytes))
      const file: ChangedFile = {
        path,
        ...(before === "unknown" ? {} : { before: bytes === undefined ? null : versionOf(bytes) }),
        after,
        ...(kept === undefined ? {} : { snapshot: kept })
      }
      changed.set(call, [...(changed.get(call) ?? []), file])
    }),
    repair: Effect.gen(function*() {
      const entries = yield* session.entries
      for (const call of unanswered(entries)) yield* append({ type: "tool_result", id: call.id, output: interrupted.lost, is_error: true, tool: call.name })
    }),
    answer: Effect.fnUntraced(function*({ content, duration_ms, model, usage }) {
      const entry: AssistantEntry = {
        ...answeredBy(model),
        content: content.some(({ type }) => type === "tool_use") ? uniqueIds(content, yield* idsTaken) : content,
        ...(usage === undefined ? {} : { usage }),
        ...(duration_ms === 0 ? {} : { duration_ms })
      }
      yield* append(entry)
      return entry
    }),
    cut: (content) => {
      const kept = content.filter((part) => part.type === "text" || part.type === "thinking")
      return textOf(kept).trim() === "" ? Effect.void : append({ ...answeredBy(selection().model), content: kept, cut: true })
    },
    abandon: Effect.fnUntraced(function*(open) {
      const known = yield* Ref.get(open)
      const answer = (yield* session.entries).findLast(isAssistant)
      const left = new Set(unanswered(yield* session.entries).map(({ id }) => id))
      for (const part of answer === undefined ? [] : callsOf(answer)) {
        const { call, running, saved, shown } = known.get(part.id) ?? {}
        if (saved !== undefined) yield* tell(saved)
        else if (left.has(part.id)) {
          const last = shown ?? errorResult(running === true ? interrupted.running : interrupted.waiting)
          if (call === undefined) yield* append({ type: "tool_result", id: part.id, output: textOf(last.content), is_error: true, tool: part.name })
          else {
            const settled = { call, result: last, duration_ms: 0, hooks_ms: 0 }
            yield* Effect.andThen(result(settled), tell(settled))
          }
        }
      }
    }),
    deliver: Effect.fnUntraced(function*(place, texts) {
      const { publish } = yield* EventSink
      for (const { content, custom, extension, images = [] } of texts) {
        const part = extension === undefined ? { type: "text" as const, text: content } : untypedText(content)
        const parts = [...(content === "" && images.length > 0 ? [] : [part]), ...images]
        yield* append(custom === undefined ? { type: "user", role: "user", content: parts } : customEntry(content, custom, extension))
        if (custom?.display !== false) yield* publish({ type: "message", role: "user", content, session_id: place.session_id, turn_id: place.turn_id })
      }
    }, Effect.uninterruptible)
  }
}
