/** Where a history is taken up anew: before one of the user's messages. Pure. */
import { Option } from "effect"
import type { ContentPart, SessionEntry, UserEntry } from "@nimlet/protocol"
import type { Entries } from "./Calls.ts"
import type { UnknownEntry } from "./SessionLines.ts"

const isUser = (entry: SessionEntry | UnknownEntry): entry is UserEntry => entry.type === "user"

/** What the user said in an entry, as one text. */
export const wordsOf = (entry: Pick<UserEntry, "content">): string =>
  entry.content.flatMap((part) => part.type === "text" ? [part.text] : []).join("\n\n")

/** Whether a part of a message is a person's own words; without a mark it is. */
const isOwn = ({ provider_data }: Extract<ContentPart, { readonly type: "text" }>): boolean => {
  const own = typeof provider_data === "object" && provider_data !== null && "nimlet" in provider_data ? provider_data.nimlet : undefined
  return !(typeof own === "object" && own !== null && "typed" in own && own.typed === false)
}

/** The same as it was said, without the files that the words name: what a person knows it by, and says anew. */
export const saidIn = (entry: Pick<UserEntry, "content">): string => {
  const texts = entry.content.filter((part) => part.type === "text")
  const last = texts.findLastIndex(isOwn)
  return (last < 0 ? texts : texts.slice(0, last + 1)).map(({ text }) => text).join("\n\n")
}

/** How many entries stand before the user's message number `message`, from 1, and what it says; none if there is no such message. */
export const forkPoint = (entries: Entries, message: number): Option.Option<{ readonly count: number; readonly text: string }> => {
  let number = 0
  for (const [count, entry] of entries.entries()) {
    if (isUser(entry) && ++number === message) return Option.some({ count, text: saidIn(entry) })
  }
  return Option.none()
}
