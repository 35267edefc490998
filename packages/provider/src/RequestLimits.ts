/** What holds for the requests of one piece of work, beside the model's own settings. */
import { Context } from "effect"

/** Limits of a request. */
export interface RequestLimits {
  /** The longest answer, in tokens; the model's own setting holds where that is lower. */
  readonly maxOutputTokens?: number
}

/** The limits in force where a request is made. The default has none. */
export const RequestLimits: Context.Reference<RequestLimits> = Context.Reference("@nimlet/provider/RequestLimits", {
  defaultValue: (): RequestLimits => ({})
})
