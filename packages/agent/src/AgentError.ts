/** What an agent can refuse to do. */
import { Schema } from "effect"

/** Extensions without which nothing may run, and why they do not run. */
export class RequiredExtensionMissing extends Schema.TaggedError<RequiredExtensionMissing>()("RequiredExtensionMissing", {
  missing: Schema.Array(Schema.Struct({ extension: Schema.String, reason: Schema.String }))
}) {
  override get message(): string {
    return this.missing.map(({ extension, reason }) => `required extension '${extension}' does not run: ${reason}`).join("; ")
  }
}

/** The session was not changed: an extension said no (`blocked`), or there is nothing to change to. Everything is as it was. */
export class SwitchRefused extends Schema.TaggedError<SwitchRefused>()("SwitchRefused", {
  blocked: Schema.Boolean,
  why: Schema.String
}) {
  override get message(): string {
    return this.why
  }
}
