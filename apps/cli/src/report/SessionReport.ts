/** What `nimlet sessions` says of sessions, as values. Pure. */
import { Schema } from "effect"
import { textOf } from "@nimlet/protocol"
import { callsOf, type Entries, isAssistant, isResult, isUser, type SessionSummary, type SessionText, titleOf } from "@nimlet/session"

const summaryFields = {
  id: Schema.String,
  /** Empty when it was given none. */
  title: Schema.String,
  /** Empty where the file does not say. */
  workspace: Schema.String,
  /** ISO; null where the file does not say. */
  started: Schema.NullOr(Schema.String),
  /** The session it was forked from. */
  parent: Schema.NullOr(Schema.String),
  bytes: Schema.Int
}

/** The object that `nimlet sessions list --json` writes, the session written last first. */
export const SessionList = Schema.Struct({
  sessions: Schema.Array(Schema.Struct({ ...summaryFields, modified: Schema.String, first_text: Schema.String })),
  /** Ids of those whose header is lost, so that no folder has them. */
  without_header: Schema.Array(Schema.String)
})
/** A list of sessions. */
export type SessionList = typeof SessionList.Type

/** The object that `nimlet sessions show --json` writes. */
export const SessionReport = Schema.Struct({
  ...summaryFields,
  path: Schema.String,
  entries: Schema.Int,
  steps: Schema.Int,
  tool_calls: Schema.Int,
  failed_calls: Schema.Int,
  usage: Schema.Struct({ input_tokens: Schema.Finite, output_tokens: Schema.Finite }),
  /** Provider and model of all answers, each once. */
  models: Schema.Array(Schema.String),
  /** What the user said; `number` is what a fork takes. */
  messages: Schema.Array(Schema.Struct({ number: Schema.Int, at: Schema.NullOr(Schema.String), text: Schema.String })),
  damaged: Schema.Array(Schema.Struct({ line: Schema.Int, reason: Schema.String }))
})
/** What a session holds. */
export type SessionReport = typeof SessionReport.Type

/** The ids of sessions whose files do not say of what folder they are. */
export const unheaded = (summaries: ReadonlyArray<SessionSummary>): ReadonlyArray<string> =>
  summaries.filter(({ workspace }) => workspace === "").map(({ id }) => id)

/** A list of these sessions. */
export const sessionList = (summaries: ReadonlyArray<SessionSummary>, without_header: ReadonlyArray<string>): SessionList => ({
  without_header,
  sessions: summaries.map(({ at, bytes, firstText, id, modified, name = "", parent, workspace }) => ({
    id,
    title: name,
    workspace,
    started: at ?? null,
    parent: parent ?? null,
    bytes,
    modified: new Date(modified).toISOString(),
    first_text: firstText
  }))
})

const figuresOf = (entries: Entries) => {
  const answers = entries.filter(isAssistant)
  const sum = (count: (entry: (typeof answers)[number]) => number) => answers.reduce((total, entry) => total + count(entry), 0)
  return {
    entries: entries.length,
    steps: answers.length,
    tool_calls: sum((entry) => callsOf(entry).length),
    failed_calls: entries.filter((entry) => isResult(entry) && entry.is_error).length,
    usage: { input_tokens: sum(({ usage }) => usage?.input_tokens ?? 0), output_tokens: sum(({ usage }) => usage?.output_tokens ?? 0) },
    models: [...new Set(answers.map(({ model, provider, requested_model }) => [provider, model ?? requested_model].filter((word) => word !== undefined).join(" ")))]
      .filter((words) => words !== "")
  }
}

/** What a session that was read holds. */
export const sessionReport = (
  file: { readonly id: string; readonly path: string; readonly bytes: number },
  { damaged, entries, header }: SessionText
): SessionReport => {
  const { at, parent, workspace } = header._tag === "Some" ? header.value : {}
  return {
    ...file,
    title: titleOf(entries),
    workspace: workspace ?? "",
    started: at ?? null,
    parent: parent ?? null,
    ...figuresOf(entries),
    messages: entries.filter(isUser).map(({ at, content }, index) => ({ number: index + 1, at: at ?? null, text: textOf(content) })),
    damaged
  }
}
