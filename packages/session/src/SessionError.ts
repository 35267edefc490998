/** What can go wrong with a session on disk. */
import { Schema } from "effect"

/** No session of this id in the session folder `folder`. */
export class SessionNotFound extends Schema.TaggedError<SessionNotFound>()("SessionNotFound", {
  id: Schema.String,
  folder: Schema.String
}) {
  override get message(): string {
    return `no session '${this.id}' in ${this.folder}`
  }
}

/** The session file could not be read; `cause` is the system's word. */
export class SessionUnreadable extends Schema.TaggedError<SessionUnreadable>()("SessionUnreadable", {
  path: Schema.String,
  cause: Schema.String
}) {
  override get message(): string {
    return `cannot read ${this.path}: ${this.cause}`
  }
}

/** An entry could not be written; it is not in the session. `cause` is the system's word. */
export class SessionUnwritable extends Schema.TaggedError<SessionUnwritable>()("SessionUnwritable", {
  path: Schema.String,
  cause: Schema.String
}) {
  override get message(): string {
    return `cannot write ${this.path}: ${this.cause}`
  }
}

/** Another process is writing the session file `path`; `pid` names it. */
export class SessionLocked extends Schema.TaggedError<SessionLocked>()("SessionLocked", {
  path: Schema.String,
  pid: Schema.Int
}) {
  override get message(): string {
    return `${this.path} is in use by process ${this.pid}`
  }
}
