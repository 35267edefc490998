/**
 * What a run writes into its session. A disk that refuses does not end the run: the session keeps the entries and tries
 * again with each next one, which is told once, and the run says at its end whether anything is still unsaved.
 */
import { Effect, Option, Ref } from "effect"
import { type AssistantEntry, type ChangedFile, type ContentPart, type CustomMessageEntry, type RunPlace, type SessionEntry, textOf } from "@nimlet/protocol"
import { callsOf, isAssistant, type Session, type SessionUnwritable, type Snapshots, unanswered } from "@nimlet/session"
import { errorResult, type FileChange, type ToolResult, versionOf } from "@nimlet/tools"
import { uniqueIds } from "./CallOrder.ts"
import { EventSink } from "./EventSink.ts"
import type { Custom, QueuedText } from "./Queues.ts"
import { untypedText } from "./RunEvents.ts"
import type { Selection } from "./Selection.ts"
import type { SettledCall, ToolCall } from "./ToolRunner.ts"
import type { Answer } from "./Turn.ts"

/** What the model reads of calls that an interrupt caught: running, not yet begun, or cut off with an earlier process. */
const interrupted = {
  running: "Interrupted while the tool ran. What it had done until then stands: look at the current state before trying again.",
  waiting: "Interrupted before tool execution.",
  lost: "Interrupted before a result was saved. The outcome is unknown: look at the current state before trying again."
}

/** A call that was announced: whether its tool has begun to run, and what it has to show already. */
export interface OpenCall {
  readonly call: ToolCall
  readonly running: boolean
  readonly shown?: ToolResult
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

/** The announced calls of a step, by id. */
export type OpenCalls = ReadonlyMap<string, OpenCall>

/** Writes into a session. Fails with `SessionUnwritable` only for what cannot even be kept in memory. */
export interface Journal {
  /** Readies it for a run: calls that an earlier process left open get a result. */
  readonly repair: Effect.Effect<void, SessionUnwritable>
  readonly append: (entry: SessionEntry) => Effect.Effect<void, SessionUnwritable>
  /** Brings everything to the disk, where that is possible. */
  readonly sync: Effect.Effect<void>
  /** Why something is not on the disk at the end of a run; undefined when all is. */
  readonly unsaved: Effect.Effect<string | undefined>
  /** Saves an answer, its calls under ids of their own. */
  readonly answer: (answer: Answer) => Effect.Effect<AssistantEntry, SessionUnwritable>
  /** Saves what had come of an answer that was cut off, where that is anything to read. */
  readonly cut: (content: ReadonlyArray<ContentPart>) => Effect.Effect<void, SessionUnwritable>
  /** Keeps what a file held, for the result of the call that is about to change it. */
  readonly changing: (call: string, change: FileChange) => Effect.Effect<void>
  /** Saves and tells the result of a call. */
  readonly result: (settled: SettledCall) => Effect.Effect<void, SessionUnwritable>
  /** Results for the calls of an interrupted step that have none; those that were announced get their record too. */
  readonly abandon: (open: Ref.Ref<OpenCalls>) => Effect.Effect<void, SessionUnwritable>
  /** Puts texts that waited into the session; from here on they are the user's words. */
  readonly deliver: (place: RunPlace, texts: ReadonlyArray<QueuedText>) => Effect.Effect<void, SessionUnwritable>
}

/** The journal of a session; `snapshots` keep what files held. */
export const makeJournal = (session: Session, selection: () => Selection, snapshots?: Snapshots): Journal => {
  // The files that calls under way have changed.
  const changed = new Map<string, ReadonlyArray<ChangedFile>>()
  // Ids of all calls so far; filled from the session when a run begins.
  const taken = new Set<string>()
  let why: string | undefined

  const refused = Effect.fnUntraced(function*(error: SessionUnwritable) {
    const { publish } = yield* EventSink
    if (why === undefined) yield* publish({ type: "diagnostic", level: "error", message: `${error.message}; going on with the session in memory` })
    why = error.message
  })

  const append: Journal["append"] = (entry) =>
    session.append(entry).pipe(
      Effect.andThen(Effect.sync(() => void (why = undefined))),
      // Without an entry that waits, it was not even kept.
      Effect.catch((error) => error.unsaved === 0 ? Effect.fail(error) : refused(error))
    )
  const sync = Effect.catch(session.sync, refused)

  const result: Journal["result"] = Effect.fnUntraced(function*({ call, changedBy, duration_ms, hooks_ms, result }) {
    const { publish } = yield* EventSink
    const output = textOf(result.content)
    const images = result.content.filter((part) => part.type === "image")
    const details = result.details === undefined ? {} : { details: result.details }
    const terminate = result.terminate === true ? { terminate: true as const } : {}
    const files = result.isError ? undefined : changed.get(call.id)
    changed.delete(call.id)
    yield* append({
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
    yield* publish({
      type: "tool_result",
      ...call.place,
      step: call.step,
      tool_id: call.id,
      tool_name: call.name,
      output,
      is_error: result.isError,
      duration_ms,
      ...details,
      ...terminate
    })
  })

  const answeredBy = (model: string) => {
    const { model: requested_model, provider } = selection()
    return { type: "assistant", role: "assistant", provider, requested_model, model } as const
  }

  return {
    append,
    sync,
    result,
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
    unsaved: Effect.map(session.unsaved, (count) => count === 0 ? undefined : why ?? `${count} entries of the session are not saved`),
    repair: Effect.gen(function*() {
      const entries = yield* session.entries
      for (const call of entries.filter(isAssistant).flatMap(callsOf)) taken.add(call.id)
      for (const call of unanswered(entries)) yield* append({ type: "tool_result", id: call.id, output: interrupted.lost, is_error: true, tool: call.name })
    }),
    answer: Effect.fnUntraced(function*({ content, duration_ms, model, usage }) {
      const entry: AssistantEntry = {
        ...answeredBy(model),
        content: uniqueIds(content, taken),
        ...(usage === undefined ? {} : { usage }),
        ...(duration_ms === 0 ? {} : { duration_ms })
      }
      yield* append(entry)
      for (const call of callsOf(entry)) taken.add(call.id)
      return entry
    }),
    cut: (content) => {
      const kept = content.filter((part) => part.type === "text" || part.type === "thinking")
      return textOf(kept).trim() === "" ? Effect.void : append({ ...answeredBy(selection().model), content: kept, cut: true })
    },
    abandon: Effect.fnUntraced(function*(open) {
      const known = yield* Ref.get(open)
      for (const part of unanswered(yield* session.entries)) {
        const { call, running, shown } = known.get(part.id) ?? {}
        const left = shown ?? errorResult(running === true ? interrupted.running : interrupted.waiting)
        if (call === undefined) yield* append({ type: "tool_result", id: part.id, output: textOf(left.content), is_error: true, tool: part.name })
        else yield* result({ call, result: left, duration_ms: 0, hooks_ms: 0 })
      }
    }),
    deliver: Effect.fnUntraced(function*(place, texts) {
      const { publish } = yield* EventSink
      for (const { content, custom, extension } of texts) {
        const part = extension === undefined ? { type: "text" as const, text: content } : untypedText(content)
        yield* append(custom === undefined ? { type: "user", role: "user", content: [part] } : customEntry(content, custom, extension))
        if (custom?.display !== false) yield* publish({ type: "message", role: "user", content, session_id: place.session_id, turn_id: place.turn_id })
      }
    }, Effect.uninterruptible)
  }
}
