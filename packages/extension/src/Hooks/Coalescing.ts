/**
 * Events that come faster than an extension takes them: it has one under way, and what comes meanwhile is joined into the
 * next. Nothing is lost and nothing piles up, however slow it is.
 */
import type { AnswerDelta, HookName, HookPayload } from "@nimlet/protocol"

/** Makes one payload of two that follow each other. */
type Join<N extends HookName> = (before: HookPayload<N>, after: HookPayload<N>) => HookPayload<N>

const joinDeltas = (before: ReadonlyArray<AnswerDelta>, after: ReadonlyArray<AnswerDelta>): ReadonlyArray<AnswerDelta> => {
  const [first, ...rest] = after
  const last = before.at(-1)
  if (first === undefined) return before
  if (last === undefined || last.kind === "tool_call" || first.kind !== last.kind || first.index !== last.index) return [...before, ...after]
  return [...before.slice(0, -1), { ...last, delta: last.delta + first.delta }, ...rest]
}

const joins: { readonly [N in HookName]?: Join<N> } = {
  message_update: (before, after) => ({ ...after, deltas: joinDeltas(before.deltas, after.deltas) }),
  tool_execution_update: (_, after) => after
}

/** What of an event's payload has to be the same for two to be joined; undefined for an event that is always sent. Pure. */
const subjectOf = <N extends HookName>(event: N, payload: HookPayload<N>): string | undefined =>
  joins[event] === undefined ? undefined : `${event} ${"tool_call_id" in payload ? payload.tool_call_id : "answer" in payload ? payload.answer : ""}`

/** A payload that waits. */
export interface Held<N extends HookName = HookName> {
  readonly event: N
  readonly payload: HookPayload<N>
}

/** What waits for one extension, by subject; undefined for one that is under way with nothing behind it. */
type Waiting = Map<string, Held | undefined>

/** All that is under way and waits. Plain state. */
export class Coalescing {
  readonly #waiting = new Map<string, Waiting>()
  #held = 0

  /** Whether anything waits for anybody. */
  get holds(): boolean {
    return this.#held > 0
  }

  /** Takes a payload: true when it is to be sent now, after which `next` is to be asked; false when it waits. */
  takes<N extends HookName>(extension: string, event: N, payload: HookPayload<N>): boolean {
    const subject = subjectOf(event, payload)
    if (subject === undefined) return true
    const waiting = this.#waiting.get(extension) ?? new Map<string, Held | undefined>()
    this.#waiting.set(extension, waiting)
    if (!waiting.has(subject)) {
      waiting.set(subject, undefined)
      return true
    }
    const before = waiting.get(subject)
    if (before === undefined) this.#held++
    // The subject holds the event's name: what waits under it is of that event.
    const join = joins[event] as Join<N> | undefined
    const joined = before === undefined || join === undefined ? payload : join(before.payload as HookPayload<N>, payload)
    waiting.set(subject, { event, payload: joined } as Held)
    return false
  }

  /** What has come since the one that is over now, if anything; it is under way then. */
  next<N extends HookName>(extension: string, event: N, payload: HookPayload<N>): HookPayload<N> | undefined {
    const subject = subjectOf(event, payload)
    const waiting = this.#waiting.get(extension)
    if (subject === undefined || waiting === undefined) return undefined
    const held = waiting.get(subject)
    if (held === undefined) {
      waiting.delete(subject)
      if (waiting.size === 0) this.#waiting.delete(extension)
      return undefined
    }
    this.#held--
    waiting.set(subject, undefined)
    return held.payload as HookPayload<N>
  }

  /** Takes all that waits for an extension, for something else that must not come before it. */
  flush(extension: string): ReadonlyArray<Held> {
    const waiting = this.#waiting.get(extension)
    if (waiting === undefined || this.#held === 0) return []
    const all = [...waiting.values()].filter((held) => held !== undefined)
    for (const subject of waiting.keys()) waiting.set(subject, undefined)
    this.#held -= all.length
    return all
  }
}
