/**
 * An answer that is still coming, kept in a file beside the session so that a killed process has not lost it: one line that
 * says who answers, then one for each piece. It is gone once the answer is in the session; what is found there when a session
 * is opened becomes an entry that is marked as cut.
 */
import { Effect, FileSystem, Option, Schema, type Scope } from "effect"
import { type AssistantEntry, type ContentPart, textOf } from "@nimlet/protocol"
import { type Entries, isAssistant } from "./Calls.ts"

/** Who is answering. */
export type Answering = Pick<AssistantEntry, "model" | "provider" | "requested_model">

/** A piece of what is said. */
export interface DraftPiece {
  readonly kind: "text" | "thinking"
  readonly text: string
}

/** The draft of one answer. */
export interface Draft {
  /** Adds pieces, in order. What the disk refuses is given up: the answer itself will be saved, or is lost with the process. */
  readonly add: (pieces: ReadonlyArray<DraftPiece>) => Effect.Effect<void>
}

/** The drafts of an open session. */
export interface Drafts {
  /** Begins one, in place of any other. `after` is the id of the last answer that is in the session, empty for none. */
  readonly begin: (answering: Answering, after: string) => Draft
  /** Takes away what was written of one. */
  readonly drop: Effect.Effect<void>
}

const Head = Schema.fromJsonString(Schema.Struct({
  type: Schema.Literal("draft"),
  after: Schema.String,
  model: Schema.optionalKey(Schema.String),
  provider: Schema.optionalKey(Schema.String),
  requested_model: Schema.optionalKey(Schema.String)
}))
const Piece = Schema.fromJsonString(Schema.Struct({ kind: Schema.Literals(["text", "thinking"]), text: Schema.String }))
const decodeHead = Schema.decodeOption(Head)
const decodePiece = Schema.decodeOption(Piece)
const encodeHead = Schema.encodeSync(Head)

const fileOf = (session: string): string => `${session}.draft`

/** The id of the last answer of a history, empty when there is none. */
export const lastAnswerId = (entries: Entries): string => entries.findLast(isAssistant)?.entry_id ?? ""

/** Drafts of a session that is kept in memory only. */
export const noDrafts: Drafts = { begin: () => ({ add: () => Effect.void }), drop: Effect.void }

/** Takes away what was left beside the session file `session`. */
export const clearDraft = (session: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.ignore(fs.remove(fileOf(session), { force: true })))

/** The drafts beside the session file `session`. */
export const makeDrafts = Effect.fnUntraced(function*(session: string): Effect.fn.Return<Drafts, never, FileSystem.FileSystem | Scope.Scope> {
  const fs = yield* FileSystem.FileSystem
  const file = fileOf(session)
  let written = false
  const drop = Effect.suspend(() => {
    if (!written) return Effect.void
    written = false
    return Effect.ignore(fs.remove(file, { force: true }))
  })
  yield* Effect.addFinalizer(() => drop)
  return {
    drop,
    begin: (answering, after) => {
      let begun = false
      return {
        add: (pieces) =>
          Effect.suspend(() => {
            const head = begun ? "" : `${encodeHead({ type: "draft", after, ...answering })}\n`
            const lines = pieces.map(({ kind, text }) => `${JSON.stringify({ kind, text })}\n`).join("")
            const flag = begun ? "a" : "w"
            begun = true
            written = true
            return Effect.ignore(fs.writeFileString(file, head + lines, { flag, mode: 0o600 }))
          }).pipe(Effect.uninterruptible)
      }
    }
  }
})

/** The pieces as parts of an answer, neighbours of one kind joined. Thinking that has no end has no signature. */
const partsOf = (pieces: ReadonlyArray<DraftPiece>): ReadonlyArray<ContentPart> => {
  const joined: Array<{ kind: DraftPiece["kind"]; text: string }> = []
  for (const { kind, text } of pieces) {
    const last = joined.at(-1)
    if (last?.kind === kind) last.text += text
    else joined.push({ kind, text })
  }
  return joined.map(({ kind, text }): ContentPart => kind === "text" ? { type: "text", text } : { type: "thinking", thinking: text, signature: "" })
}

/**
 * What a killed process has left of an answer that is not in the session, as an entry marked as cut; none where that is nothing
 * to read, or the answer is there after all. What is of no use is taken away.
 */
export const leftDraft = Effect.fnUntraced(function*(session: string, entries: Entries) {
  const fs = yield* FileSystem.FileSystem
  const file = fileOf(session)
  const text = yield* Effect.option(fs.readFileString(file))
  if (Option.isNone(text)) return Option.none<AssistantEntry>()
  const [first = "", ...lines] = text.value.split("\n")
  const head = decodeHead(first)
  const content = partsOf(lines.flatMap((line) => Option.toArray(decodePiece(line))))
  if (Option.isSome(head) && head.value.after === lastAnswerId(entries) && textOf(content).trim() !== "") {
    const { after: _, type: __, ...answering } = head.value
    return Option.some<AssistantEntry>({ type: "assistant", role: "assistant", ...answering, content, cut: true })
  }
  yield* Effect.ignore(fs.remove(file))
  return Option.none<AssistantEntry>()
})
