/**
 * Images that a provider refused. A request holds all that was said before, so one such image would fail each later request
 * too: a mark in the session leaves out, from there on, those the model had not answered to yet. Pure.
 */
import { type ContentPart, type CustomMessageEntry, type SessionEntry, unsentImage } from "@nimlet/protocol"
import { type Entries, isAssistant, isResult } from "./Calls.ts"

type Entry = Entries[number]

/** A model, as it is asked for. */
export interface AskedModel {
  readonly provider: string
  readonly model: string
}

const markType = "images_left_out"
const leftOut = unsentImage("the provider refused the request with it")

/** The mark, to stand behind the images that `asked` refused. */
export const imagesLeftOut = (asked: AskedModel): CustomMessageEntry => ({
  type: "custom_message",
  custom_type: markType,
  role: "system",
  content: [{ type: "text", text: "The provider refused images; they were left out, and nobody has looked at them." }],
  display: false,
  details: { provider: asked.provider, model: asked.model }
})

/** Whether an entry is such a mark. */
export const isImagesMark = (entry: Entry): entry is CustomMessageEntry =>
  entry.type === "custom_message" && "custom_type" in entry && entry.custom_type === markType && "role" in entry && entry.role === "system"

const hasContent = (entry: Entry): entry is Extract<SessionEntry, { readonly type: "user" | "custom_message" }> =>
  entry.type === "user" || entry.type === "custom_message"

const imagesIn = (entry: Entry): number =>
  isResult(entry) ? entry.images?.length ?? 0 : hasContent(entry) ? entry.content.filter(({ type }) => type === "image").length : 0

/** Where the images begin that a model has not answered to, of those before `end`. */
const unansweredFrom = (entries: Entries, end: number, { model, provider }: AskedModel): number => {
  let at = end
  for (; at > 0; at--) {
    const entry = entries[at - 1]
    if (entry !== undefined && isAssistant(entry) && entry.cut !== true && entry.provider === provider && (entry.requested_model ?? entry.model) === model) break
  }
  return at
}

const markedModel = ({ details }: CustomMessageEntry): AskedModel => {
  const said = typeof details === "object" && details !== null ? details : {}
  const text = (value: unknown): string => typeof value === "string" ? value : ""
  return { provider: "provider" in said ? text(said.provider) : "", model: "model" in said ? text(said.model) : "" }
}

/** The entries whose images marks leave out. */
export const entriesLeftOut = (entries: Entries): ReadonlySet<Entry> => {
  const found = new Set<Entry>()
  for (const [at, mark] of entries.entries()) {
    if (!isImagesMark(mark)) continue
    for (const entry of entries.slice(unansweredFrom(entries, at, markedModel(mark)), at)) if (imagesIn(entry) > 0) found.add(entry)
  }
  return found
}

/** How many images the next request would hold that `asked` has not answered to yet. */
export const untriedImages = (entries: Entries, asked: AskedModel): number => {
  const gone = entriesLeftOut(entries)
  return entries.slice(unansweredFrom(entries, entries.length, asked)).reduce((sum, entry) => sum + (gone.has(entry) ? 0 : imagesIn(entry)), 0)
}

const said = (part: ContentPart): ContentPart =>
  part.type === "image" ? { type: "text", text: leftOut, provider_data: { nimlet: { typed: false } } } : part

/** An entry with a line of text for each of its images. */
export const withoutImages = (entry: Entry): Entry => {
  if (hasContent(entry)) return { ...entry, content: entry.content.map(said) }
  if (!isResult(entry)) return entry
  const { images = [], ...rest } = entry
  return { ...rest, output: [...(entry.output === "" ? [] : [entry.output]), ...images.map(() => leftOut)].join("\n") }
}
