/** What a session is called. Pure. */
import type { Entries } from "./Calls.ts"

/** What stands for the words of a session in which nobody has spoken. */
export const unsaid = (parent: string | undefined): string => parent === undefined ? "(nothing said)" : `(nothing said yet, fork of ${parent})`

/** The title given last (`/name`), empty when it has none. */
export const titleOf = (entries: Entries): string => {
  const named = entries.findLast((entry) => entry.type === "name")
  return named !== undefined && "name" in named ? named.name : ""
}
