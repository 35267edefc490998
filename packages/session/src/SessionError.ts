/** What can go wrong with a session on disk. */
import { Schema } from "effect"
import type { PlatformError } from "effect/PlatformError"

/** No session of this id in the session folder `folder`. */
export class SessionNotFound extends Schema.TaggedError<SessionNotFound>()("SessionNotFound", {
  id: Schema.String,
  folder: Schema.String
}) {
  override get message(): string {
    return `no session '${this.id}' in ${this.folder}`
  }
}

/** A session of this id is there already, in the session folder `folder`. */
export class SessionExists extends Schema.TaggedError<SessionExists>()("SessionExists", {
  id: Schema.String,
  folder: Schema.String
}) {
  override get message(): string {
    return `there is a session '${this.id}' in ${this.folder} already`
  }
}

/** The session file could not be read, or is no session at all; `cause` says why, in the system's words where it has some. */
export class SessionUnreadable extends Schema.TaggedError<SessionUnreadable>()("SessionUnreadable", {
  path: Schema.String,
  cause: Schema.String
}) {
  override get message(): string {
    return `cannot read ${this.path}: ${this.cause}`
  }
}

/**
 * The disk refused; `cause` is the system's word. `unsaved` entries are in the session and not on the disk: they are tried
 * again with the next append, sync and when the session is closed.
 */
export class SessionUnwritable extends Schema.TaggedError<SessionUnwritable>()("SessionUnwritable", {
  path: Schema.String,
  cause: Schema.String,
  unsaved: Schema.Int,
  /** The place can be read and not written, so nobody else of us writes it either. */
  read_only: Schema.optionalKey(Schema.Boolean)
}) {
  override get message(): string {
    return `cannot write ${this.path}: ${this.cause}`
  }
}

/** Another process is writing the session file `path`: `pid`, `since` an ISO time where it says so. */
export class SessionLocked extends Schema.TaggedError<SessionLocked>()("SessionLocked", {
  path: Schema.String,
  pid: Schema.Int,
  since: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    return `${this.path} is in use by process ${this.pid}${this.since === undefined ? "" : ` since ${this.since}`}`
  }
}

/** The session `id` has `messages` messages of the user; number `message_number` (the first is 1) is none of them. */
export class MessageNotFound extends Schema.TaggedError<MessageNotFound>()("MessageNotFound", {
  id: Schema.String,
  message_number: Schema.Int,
  messages: Schema.Int
}) {
  override get message(): string {
    return `session '${this.id}' has ${this.messages} messages of the user, no message ${this.message_number}`
  }
}

/** A page is not written to `path`, since something else stands there. */
export class ExportRefused extends Schema.TaggedError<ExportRefused>()("ExportRefused", { path: Schema.String }) {
  override get message(): string {
    return `${this.path} is there already and is no exported session`
  }
}

/** Whether the system lets nobody, or not us, write there, so that nothing is kept from being read. */
export const isReadOnly = ({ reason: { cause } }: PlatformError): boolean =>
  cause instanceof Error && "code" in cause && (cause.code === "EROFS" || cause.code === "EACCES" || cause.code === "EPERM")

/** Why the system refused, in its own words where it gave some: "ENOSPC: no space left on device, write". */
export const systemWord = (error: PlatformError): string =>
  error.reason.cause instanceof Error ? error.reason.cause.message : error.message
