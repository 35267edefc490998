/** What helps against a failure to start, where its own words do not say it. */
import type { StartupError } from "./Run.ts"

/** One clause without a full stop; empty where there is nothing to add. */
export const remedyOf = (error: StartupError): string => {
  switch (error._tag) {
    case "MissingCredential":
      return "or put a key into ~/.nimlet/auth.json, or give one with --api-key"
    case "MissingModel":
      return "name one with --model"
    case "SessionLocked":
      return "wait for it, or leave --resume out to start a session of your own"
    case "SettingsInvalid":
      return "mend the file, it was left as it is"
    case "RequiredExtensionMissing":
      return "`nimlet extension list` says more; extensions.required in ~/.nimlet/config.json and --require-extension make it required"
    default:
      return ""
  }
}
