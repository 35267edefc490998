/** What can go wrong between a client and the nimlet it drives. */
import { Schema } from "effect"

/** The process has ended, could not be started, or did not say that it is there. `stderr` is the end of what it said. */
export class ClientClosed extends Schema.TaggedError<ClientClosed>()("ClientClosed", { reason: Schema.String, stderr: Schema.String }) {
  override get message(): string {
    return this.stderr === "" ? `nimlet ${this.reason}` : `nimlet ${this.reason}: ${this.stderr.trim()}`
  }
}

/** nimlet has refused a command; nothing came of it. */
export class CommandRefused extends Schema.TaggedError<CommandRefused>()("CommandRefused", { command: Schema.String, error: Schema.String }) {
  override get message(): string {
    return `${this.command}: ${this.error}`
  }
}
