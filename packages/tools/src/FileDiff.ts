/** The unified diff of a change, for people: it stands in `details.diff` and never goes to the model. */
import * as TextDiff from "effect/TextDiff"
import type { JsonObject } from "@nimlet/protocol"
import { boundHead, modelLimits } from "./Output.ts"

/** Beyond this many characters on both sides no diff is made: nobody reads it and it would hold everything up. */
const MAX_DIFF_INPUT = 2_000_000
/** Search depth; a larger change is shown as a whole block removed and added. */
const MAX_EDITS = 1000

/**
 * The details of a change: `diff`, at most 50 KB, and `diff_truncated` when that is not all of it or there is none
 * because the files are too large. `before` is undefined for a new file.
 */
export const diffDetails = (path: string, before: string | undefined, after: string): JsonObject => {
  if ((before?.length ?? 0) + after.length > MAX_DIFF_INPUT) return { path, diff_truncated: true }
  const diff = TextDiff.unified(TextDiff.lines(before ?? "", after, { maxEdits: MAX_EDITS }), {
    fromFile: before === undefined ? "/dev/null" : `a/${path}`,
    toFile: `b/${path}`
  })
  if (diff === "") return { path }
  const { dropped, text } = boundHead(diff, modelLimits)
  return { path, diff: text, ...(dropped > 0 ? { diff_truncated: true } : {}) }
}
