/** The way to the host: lines out, and questions that are matched to their answers. */
import { Deferred, Effect, Schema, Stream } from "effect"
import type { JsonObject } from "@nimlet/protocol"

/** Lines both ways, as objects. `inbound` ends when the host says no more. */
export interface Lines {
  readonly inbound: Stream.Stream<JsonObject>
  readonly send: (line: JsonObject) => Effect.Effect<void>
}

/** The host said no: what was asked is not to be had here, the person stopped it, or it failed. */
export class HostRefused extends Schema.TaggedError<HostRefused>()("HostRefused", { method: Schema.String, reason: Schema.String }) {
  override get message(): string {
    return `${this.method}: ${this.reason}`
  }
}

/** One life's link. */
export interface HostLink {
  readonly send: Lines["send"]
  /** Asks a person; undefined when nobody answers. Interrupting it takes the question back. */
  readonly question: (question: JsonObject) => Effect.Effect<JsonObject | undefined>
  /** Asks the host to do something. */
  readonly request: (method: string, fields: JsonObject) => Effect.Effect<JsonObject, HostRefused>
  /** Takes a line; false when it is no answer. */
  readonly answered: (line: JsonObject) => Effect.Effect<boolean>
}

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value)

/** Nothing has been asked. */
export const makeHostLink = (send: Lines["send"]): HostLink => {
  const open = new Map<string, Deferred.Deferred<JsonObject>>()
  let last = 0
  const ask = Effect.fnUntraced(function*(line: JsonObject) {
    const id = `s${++last}`
    const answer = yield* Deferred.make<JsonObject>()
    open.set(id, answer)
    const withdraw = Effect.suspend(() => line["type"] === "ui_request" ? send({ type: "ui_cancel", id }) : Effect.void)
    yield* send({ ...line, id })
    return yield* Deferred.await(answer).pipe(
      Effect.onInterrupt(() => withdraw),
      Effect.ensuring(Effect.sync(() => open.delete(id)))
    )
  })
  return {
    send,
    question: (question) =>
      Effect.map(ask({ type: "ui_request", ...question }), (answer) => answer["cancelled"] === true ? undefined : answer),
    request: Effect.fnUntraced(function*(method, fields) {
      const { cancelled, error, result } = yield* ask({ type: "host_request", method, ...fields })
      if (isObject(result)) return result
      const reason = typeof error === "string" ? error : cancelled === true ? "cancelled" : "no answer"
      return yield* new HostRefused({ method, reason })
    }),
    answered: Effect.fnUntraced(function*(line) {
      if (line["type"] !== "ui_response" && line["type"] !== "host_response") return false
      const answer = open.get(String(line["id"]))
      if (answer !== undefined) yield* Deferred.succeed(answer, line)
      return true
    })
  }
}
