/** Where a history is taken up anew: before one of the user's messages. Pure. */
import { Option } from "effect"
import type { SessionEntry, UserEntry } from "@nimlet/protocol"
import type { Entries } from "./Calls.ts"
import type { UnknownEntry } from "./SessionLines.ts"

const isUser = (entry: SessionEntry | UnknownEntry): entry is UserEntry => entry.type === "user"

/** What the user said in an entry, as one text. */
export const wordsOf = (entry: Pick<UserEntry, "content">): string =>
  entry.content.flatMap((part) => part.type === "text" ? [part.text] : []).join("\n\n")

/** How many entries stand before the user's message number `message`, from 1, and what it says; none if there is no such message. */
export const forkPoint = (entries: Entries, message: number): Option.Option<{ readonly count: number; readonly text: string }> => {
  let number = 0
  for (const [count, entry] of entries.entries()) {
    if (isUser(entry) && ++number === message) return Option.some({ count, text: wordsOf(entry) })
  }
  return Option.none()
}
