/** What helps against a failure, where its own words do not say it. */
import type { ExportRefused, MessageNotFound, SessionExists, SessionUnwritable } from "@nimlet/session"
import { nearest } from "@nimlet/extension"
import type { StartupError } from "./Run.ts"

/** Why something could not be done with a session that is not open. */
export type SessionFailure = Extract<StartupError, { _tag: `Session${string}` | "SettingsInvalid" }> | SessionExists | SessionUnwritable | MessageNotFound | ExportRefused

const idIn = (path: string): string => path.replace(/^.*[\\/]/, "").replace(/\.jsonl$/, "")

/** One clause without a full stop; empty where there is nothing to add. */
export const remedyOf = (error: StartupError | SessionFailure): string => {
  switch (error._tag) {
    case "MissingCredential":
      return error.entryType === undefined
        ? "or put a key into ~/.nimlet/auth.json, or give one with --api-key"
        : `put { "type": "api_key", "key": "..." } there, or give a key with --api-key`
    case "MissingModel":
      return `name one with --model, or in ~/.nimlet/config.json as default_model or first of providers.${error.provider}.models`
    case "UnknownProvider": {
      const meant = nearest(error.provider, error.known)
      return `${meant === undefined ? "" : `${meant} is meant, it seems; `}correct the name, or set it up under providers.${error.provider} in ~/.nimlet/config.json`
    }
    case "InvalidEndpoint":
      return error.said === undefined || error.said.startsWith("providers.")
        ? `give its address, which begins with http:// or https://, as providers.${error.provider}.endpoint in ~/.nimlet/config.json`
        : `set ${error.said} to an address that begins with http:// or https://, or unset it`
    case "AuthFileInvalid":
      return 'mend the file, it was left as it is; each entry is "PROVIDER": { "type": "api_key", "key": "..." }'
    case "SessionLocked":
      return `wait for it, or make a copy of your own with \`nimlet sessions fork ${idIn(error.path)}\` and go on with that by --session`
    case "SessionNotFound":
      return error.folder.endsWith(".trash") ? "only what was deleted and is no session again can be restored" : "`nimlet sessions list --everywhere` lists them"
    case "SessionExists":
      return "delete that one first to have the deleted one in its place"
    case "MessageNotFound":
      return `\`nimlet sessions show ${error.id}\` numbers them`
    case "ExportRefused":
      return "name another file"
    case "SettingsInvalid":
      return "mend the file, it was left as it is"
    case "RequiredExtensionMissing":
      return "`nimlet extension list` says more; extensions.required in ~/.nimlet/config.json and --require-extension make it required"
    default:
      return ""
  }
}
