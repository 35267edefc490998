/** The one writer of RPC mode: events of the agent and records of our own, each whole on a line. */
import { Effect } from "effect"
import type { AgentEvent, ResponseRecord, SessionRecord, UiRecord } from "@nimlet/protocol"
import { encodeRecord, wholeCharacters } from "@nimlet/protocol"

/** Writes records. */
export interface RpcWriter {
  /** An event; `more` are members that only RPC mode has. */
  readonly event: (event: AgentEvent | SessionRecord, more?: Readonly<Record<string, unknown>>) => Effect.Effect<void>
  /** A record for a client that shows things; nothing where it does not. */
  readonly ui: (record: UiRecord) => Effect.Effect<void>
  readonly reply: (id: string, reply: Omit<ResponseRecord, "version" | "type" | "id">) => Effect.Effect<void>
}

/** A writer that knows which ids wait for something: for a reply, and where a turn was begun, for its end. */
export const withOpenIds = (writer: RpcWriter): RpcWriter & {
  /** Takes an id into use; false when it is in use, and then nothing has changed. */
  readonly open: (id: string) => boolean
} => {
  const ids = new Set<string>()
  return {
    ...writer,
    open: (id) => !ids.has(id) && ids.add(id).size > 0,
    event: (event, more) => {
      if (event.type === "run_end" && typeof more?.["request_id"] === "string") ids.delete(more["request_id"])
      return writer.event(event, more)
    },
    reply: (id, reply) => {
      if (reply["state"] !== "started") ids.delete(id)
      return writer.reply(id, reply)
    }
  }
}

/** Writes to `line`; `attended` tells whether the client shows what a person would see. */
export const makeRpcWriter = (line: (text: string) => Effect.Effect<void>, attended: () => boolean): RpcWriter => {
  const ui = (record: UiRecord) => attended() ? line(wholeCharacters(JSON.stringify(record))) : Effect.void
  return {
    event: (event, more) => {
      const record = encodeRecord(event, more)
      if (record !== undefined) return line(record)
      // Only a note has no record.
      return event.type === "diagnostic" ? ui({ version: 1, type: "notice", level: event.level, message: event.message }) : Effect.void
    },
    ui,
    reply: (id, reply) => line(wholeCharacters(JSON.stringify({ version: 1, type: "response", id, ...reply })))
  }
}
