/**
 * Files brought back to what they held before a message of the user, from what `edit` and `write` left in the session, and forth
 * again. Nothing is changed where one of them is not as the session left it: somebody else's work is not thrown away.
 */
import { Effect, Option, Schema } from "effect"
import type { ChangedFile } from "@nimlet/protocol"
import { type Entries, forkPoint, isResult, type Session, type Snapshots } from "@nimlet/session"
import { type Files, fileState, restoreFile, versionOf } from "@nimlet/tools"

/** A file as it is now and as it shall be; a version of null is no file. */
interface Move {
  readonly path: string
  readonly now: string | null
  readonly then: string | null
  /** Where the contents to come are kept, for a file that is to be there. */
  readonly snapshot?: string
}

/** Why a file cannot be brought back. */
interface Refusal {
  readonly path: string
  readonly why: string
}

/** A move with the contents on both sides at hand. */
interface Ready extends Move {
  readonly present: Uint8Array | null
  readonly coming: Uint8Array | null
}

/** What would be done. With `refusals` nothing is. */
export interface RewindPlan {
  readonly moves: ReadonlyArray<{ readonly path: string; readonly removes: boolean }>
  readonly refusals: ReadonlyArray<Refusal>
  /** Does it and tells what came of it, a line each; `to` is the session that is about to be entered. */
  readonly carryOut: (to: Session) => Effect.Effect<ReadonlyArray<string>>
}

/** Plans for a session. */
export interface Rewind {
  /** For going back to before a message; undefined when there is no such message. */
  readonly plan: (session: Session, message: number) => Effect.Effect<RewindPlan | undefined>
  /** For taking back what such a plan did when the session was entered, and the session that was left then; undefined when there is nothing. */
  readonly undo: (session: Session) => Effect.Effect<{ readonly from: string; readonly plan: RewindPlan } | undefined>
}

/** What the files of a history's later part held before it, by what is known of them. Pure. */
export const movesSince = (entries: Entries, count: number): { readonly moves: ReadonlyArray<Move>; readonly refusals: ReadonlyArray<Refusal> } => {
  const changes = new Map<string, Array<ChangedFile>>()
  for (const { files = [] } of entries.slice(count).filter(isResult)) {
    for (const file of files) changes.set(file.path, [...(changes.get(file.path) ?? []), file])
  }
  const moves: Array<Move> = []
  const refusals: Array<Refusal> = []
  for (const [path, all] of changes) {
    const [first] = all
    const last = all.at(-1)
    if (first === undefined || last === undefined) continue
    if (first.before === undefined || (first.before !== null && first.snapshot === undefined)) refusals.push({ path, why: "what it held before was not kept" })
    else if (all.some(({ before }, at) => at > 0 && before !== all[at - 1]?.after)) refusals.push({ path, why: "something else changed it in between" })
    else moves.push({ path, now: last.after, then: first.before, ...(first.snapshot === undefined ? {} : { snapshot: first.snapshot }) })
  }
  return { moves: moves.filter(({ now, then }) => now !== then), refusals }
}

const Note = Schema.fromJsonString(Schema.Struct({
  from: Schema.String,
  files: Schema.Array(Schema.Struct({
    path: Schema.String,
    now: Schema.NullOr(Schema.String),
    then: Schema.NullOr(Schema.String),
    snapshot: Schema.optionalKey(Schema.String)
  }))
}))
const decodeNote = Schema.decodeUnknownOption(Note)
const encodeNote = Schema.encodeSync(Note)

/** Plans over these files, with contents from `snapshots`. */
export const makeRewind = (files: Files, snapshots: Snapshots): Rewind => {
  /** Undefined for a file that is as it shall be already. */
  const examine = Effect.fnUntraced(function*(move: Move) {
    const refuse = (why: string): Refusal => ({ path: move.path, why })
    const state = yield* Effect.result(fileState(files, move.path))
    if (state._tag === "Failure") return refuse(state.failure.message)
    const { bytes: present, version } = state.success
    if (version === move.then) return undefined
    if (version !== move.now) return refuse(version === null ? "it is not there any more" : "something else changed it since")
    if (move.then === null) return { ...move, present, coming: null } satisfies Ready
    const coming = Option.getOrUndefined(yield* snapshots.load(move.snapshot ?? ""))
    if (coming === undefined || versionOf(coming) !== move.then) return refuse("what it held before is not kept any more")
    return { ...move, present, coming } satisfies Ready
  })

  /** The way back of a move, once what is there now is kept. */
  const turned = Effect.fnUntraced(function*(session: string, { now, path, present, then }: Ready) {
    const back: Move = { path, now: then, then: now }
    if (present === null) return Option.some(back)
    return Option.map(yield* snapshots.keep(session, present), (snapshot): Move => ({ ...back, snapshot }))
  })

  const restore = ({ coming, now, path }: Ready) =>
    restoreFile(files, path, now, coming).pipe(
      Effect.as(`${path}: ${coming === null ? "taken away" : "as it was"}`),
      Effect.catch((error) => Effect.succeed(`${path}: left as it is, ${error.message}`))
    )

  const planOf = Effect.fnUntraced(function*(
    found: { readonly moves: ReadonlyArray<Move>; readonly refusals: ReadonlyArray<Refusal> },
    before: (to: Session, moves: ReadonlyArray<Ready>) => Effect.Effect<string | undefined>
  ) {
    const examined = yield* Effect.forEach(found.moves, examine)
    const moves = examined.flatMap((one) => one === undefined || "why" in one ? [] : [one])
    const plan: RewindPlan = {
      moves: moves.map(({ path, then }) => ({ path, removes: then === null })),
      refusals: [...found.refusals, ...examined.flatMap((one) => one !== undefined && "why" in one ? [one] : [])],
      carryOut: Effect.fnUntraced(function*(to) {
        const problem = yield* before(to, moves)
        return problem === undefined ? yield* Effect.forEach(moves, restore) : [problem]
      }, Effect.uninterruptible)
    }
    return plan
  })

  return {
    plan: Effect.fnUntraced(function*(session, message) {
      const entries = yield* session.entries
      const point = forkPoint(entries, message)
      if (Option.isNone(point)) return undefined
      return yield* planOf(movesSince(entries, point.value.count), Effect.fnUntraced(function*(to, moves) {
        // Written before any file is touched: whatever happens then can be taken back.
        const backs = yield* Effect.forEach(moves, (move) => turned(session.id, move))
        const noted = Option.all(backs).pipe(Option.map((files) => encodeNote({ from: session.id, files })))
        const kept = Option.isSome(noted) && (yield* snapshots.note(to.id, noted.value))
        return kept ? undefined : "The files were left as they are: what they hold now could not be kept."
      }))
    }),
    undo: Effect.fnUntraced(function*(session) {
      const note = Option.getOrUndefined(decodeNote(yield* snapshots.noted(session.id)))
      if (note === undefined) return undefined
      const plan = yield* planOf({ moves: note.files, refusals: [] }, () => Effect.as(snapshots.note(session.id, ""), undefined))
      return { from: note.from, plan }
    })
  }
}
