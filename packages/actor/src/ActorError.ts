/** What can go wrong when a message is given to an actor. */
import { Schema } from "effect"

/** The mailbox was full and its policy is to refuse, or the message was dropped for a newer one. */
export class MailboxFull extends Schema.TaggedError<MailboxFull>()("MailboxFull", { actor: Schema.String }) {
  override get message(): string {
    return `the mailbox of actor '${this.actor}' is full`
  }
}

/** The actor is not running, or it ended before it replied. */
export class ActorStopped extends Schema.TaggedError<ActorStopped>()("ActorStopped", { actor: Schema.String }) {
  override get message(): string {
    return `actor '${this.actor}' is not running`
  }
}

/** The budget of an ask was spent before the reply came. */
export class AskTimeout extends Schema.TaggedError<AskTimeout>()("AskTimeout", { actor: Schema.String }) {
  override get message(): string {
    return `actor '${this.actor}' did not reply in time`
  }
}

/** A living child of the supervisor has that name already. */
export class NameTaken extends Schema.TaggedError<NameTaken>()("NameTaken", { actor: Schema.String }) {
  override get message(): string {
    return `there is an actor '${this.actor}' already`
  }
}
