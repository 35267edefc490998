/** The unified diff of a change, for people: it stands in `details.diff` and never goes to the model. */
import * as TextDiff from "effect/TextDiff"
import { boundHead, modelLimits } from "./Output.ts"

/** Beyond this many characters on both sides no diff is made: nobody reads it and it would hold everything up. */
const MAX_DIFF_INPUT = 2_000_000
/** Search depth; a larger change is shown as a whole block removed and added. */
const MAX_EDITS = 2000

/** A diff of at most 50 KB; undefined when there is no change or it is too large. `before` is undefined for a new file. */
export const fileDiff = (path: string, before: string | undefined, after: string): string | undefined => {
  if ((before?.length ?? 0) + after.length > MAX_DIFF_INPUT) return undefined
  const diff = TextDiff.unified(TextDiff.lines(before ?? "", after, { maxEdits: MAX_EDITS }), {
    fromFile: before === undefined ? "/dev/null" : `a/${path}`,
    toFile: `b/${path}`
  })
  return diff === "" ? undefined : boundHead(diff, modelLimits).text
}
