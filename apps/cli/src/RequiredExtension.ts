/** The one failure of a start that is the user's own condition. */
import { Schema } from "effect"

/** Extensions that must run and do not, each with why. */
export class RequiredExtensionMissing extends Schema.TaggedError<RequiredExtensionMissing>()("RequiredExtensionMissing", {
  missing: Schema.Array(Schema.Struct({ extension: Schema.String, reason: Schema.String }))
}) {
  override get message(): string {
    return this.missing.map(({ extension, reason }) => `required extension '${extension}' does not run: ${reason}`).join("; ")
  }
}
