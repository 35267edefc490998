/**
 * What RPC mode tells of requests, held against each other: each that began a turn, or waited in the queue for one, is named once
 * by the end of a turn, and the queue's records tell of the same texts.
 */
import type { RecordObject } from "./Violation.ts"

/** Takes what is wrong with the record at hand. */
export type Say = (problem: string) => void

/** What is known of a run at its end: what its last error said, and how many messages of the user came within it. */
export interface RunOutcome {
  readonly failed: string | undefined
  readonly heard: number
}

/** The requests of a stream, as far as it was read. */
export interface Requests {
  /** A reply. */
  readonly reply: (record: RecordObject, say: Say) => void
  /** Something that happened to the queue. */
  readonly queue: (record: RecordObject, say: Say) => void
  readonly runEnded: (record: RecordObject, outcome: RunOutcome, say: Say) => void
  readonly sessionEnded: (say: Say) => void
  /** What should have come before the end of the stream. */
  readonly missing: () => ReadonlyArray<string>
}

interface Waiting {
  readonly id: unknown
  readonly mode: unknown
}

const text = (value: unknown): string => typeof value === "string" ? value : ""

/** No request yet. */
export const makeRequests = (): Requests => {
  /** Ids of commands that began a turn, of those that were said to wait, of those that left the queue for a turn, and of those whose turn has ended. */
  const started = new Set<string>()
  const queued = new Set<string>()
  const enqueued = new Set<string>()
  const delivered = new Set<string>()
  const finished = new Set<string>()
  let waiting: ReadonlyArray<Waiting> = []

  const finish = (id: string, known: boolean, say: Say) => {
    if (!known) say(`run_end names the request ${id}, which began no turn`)
    if (finished.has(id)) say(`a second run_end for the request ${id}`)
    finished.add(id)
  }

  return {
    reply: ({ id, ok, state }, say) => {
      if (typeof id !== "string" || typeof ok !== "boolean") return say("a response needs an id and ok")
      if (state !== "started" && state !== "queued") return
      if (started.has(id) || queued.has(id)) say(`a second reply that takes the request ${id}`)
      if (state === "queued" && !enqueued.has(id)) say(`the request ${id} was queued, and no queue record tells it`)
      ;(state === "started" ? started : queued).add(id)
    },
    queue: ({ action, depth, mode, request_id }, say) => {
      if (action === "clear") waiting = []
      else if (action === "enqueue") {
        waiting = [...waiting, { id: request_id, mode }]
        if (request_id !== undefined) enqueued.add(text(request_id))
      } else {
        const at = waiting.findIndex((one) => one.mode === mode)
        if (at === -1 || waiting[at]?.id !== request_id) say(`the queue gives ${JSON.stringify(request_id)}, which is not the next that waits there`)
        waiting = waiting.filter((_, index) => index !== at)
        if (request_id !== undefined) delivered.add(text(request_id))
      }
      // Of several that are taken at once each tells how many wait after all of them.
      const right = action === "dequeue" ? typeof depth === "number" && depth <= waiting.length : depth === waiting.length
      if (!right) say(`the queue has depth ${String(depth)}, ${waiting.length} is expected`)
    },
    runEnded: ({ error, request_id, request_ids, success }, { failed, heard }, say) => {
      if (success !== (failed === undefined)) say(`run_end tells success ${String(success)}, ${failed === undefined ? "no" : "an"} error came before`)
      if (success === false ? error !== failed : error !== undefined) say("run_end does not tell the turn's error")
      const joined = Array.isArray(request_ids) ? request_ids.map(text) : []
      if (failed === undefined && heard < joined.length) say("run_end before the messages that were taken from the queue")
      for (const id of joined) finish(id, delivered.has(id), say)
      if (request_id !== undefined) finish(text(request_id), started.has(text(request_id)) || delivered.has(text(request_id)), say)
    },
    sessionEnded: (say) => {
      if (waiting.length > 0) say("session_end while something waits in the queue")
      waiting = []
    },
    missing: () => [
      ...[...started, ...delivered].filter((id) => !finished.has(id)).map((id) => `the request ${id} has no run_end`),
      ...[...enqueued].filter((id) => !queued.has(id)).map((id) => `the request ${id} was queued, and no reply tells it`)
    ]
  }
}
