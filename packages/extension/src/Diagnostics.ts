/** Where the host says what went wrong, and where it hands over what an extension wants stored. */
import { Context, Effect } from "effect"

/** Something a person should read. `extension` is the extension's key; `message` is a whole sentence naming it. */
export interface Diagnostic {
  readonly level: "info" | "warning" | "error"
  readonly message: string
  readonly extension?: string
}

/** Called for every warning after start, in order; it must not wait long, the extension's lines wait with it. */
export const Diagnostics = Context.Reference<(diagnostic: Diagnostic) => Effect.Effect<void>>(
  "@nimlet/extension/Diagnostics",
  { defaultValue: () => () => Effect.void }
)

/** What an extension wants stored in the session as `{type: "extension", extension, data}` (seed 000, "entry"). */
export interface ExtensionEntry {
  /** Its key, by which its later `initialize.entries` are found too. */
  readonly extension: string
  readonly data: unknown
  /** What kind of thing it is, where the extension says (seed 004). */
  readonly custom_type?: string
}

/** Called for every `entry` side effect, in order. The default drops it. */
export const EntrySink = Context.Reference<(entry: ExtensionEntry) => Effect.Effect<void>>(
  "@nimlet/extension/EntrySink",
  { defaultValue: () => () => Effect.void }
)
