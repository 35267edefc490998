/** What a session is called. Pure. */
import type { Entries } from "./Calls.ts"

/** The title given last (`/name`), empty when it has none. */
export const titleOf = (entries: Entries): string => {
  const named = entries.findLast((entry) => entry.type === "name")
  return named !== undefined && "name" in named ? named.name : ""
}
