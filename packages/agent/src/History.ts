/** A session's entries as they come, for whoever must read them at once: as they are, and in the shapes of seed 004. Plain state. */
import type { JsonObject, SessionEntry } from "@nimlet/protocol"
import { type Entries, makeProjection, type ProjectedEntry, titleOf } from "@nimlet/session"

/** One session so far. */
export class History {
  readonly #entries: Array<Entries[number]>
  readonly #project = makeProjection()
  #projected: ReadonlyArray<ProjectedEntry> = []
  #title: string

  /** What is there already. */
  constructor(entries: Entries) {
    this.#entries = [...entries]
    this.#title = titleOf(entries)
  }

  /** An entry was saved. */
  add(entry: SessionEntry): void {
    this.#entries.push(entry)
    if (entry.type === "name") this.#title = entry.name
  }

  /** Takes what all entries have beyond those known. */
  catchUp(entries: Entries): void {
    this.#entries.push(...entries.slice(this.#entries.length))
    this.#title = titleOf(this.#entries)
  }

  /** All entries, oldest first. */
  get entries(): Entries {
    return this.#entries
  }

  /** All of them as extensions read them. The same list as before when nothing has come, else a longer one; made when it is read. */
  get projected(): ReadonlyArray<ProjectedEntry> {
    const known = this.#projected.length
    if (known < this.#entries.length) this.#projected = [...this.#projected, ...this.#entries.slice(known).map(this.#project)]
    return this.#projected
  }

  /** What the session is called; empty for one without a title. */
  get title(): string {
    return this.#title
  }

  /** Id of an entry → its bookmark. */
  get labels(): Readonly<Record<string, string>> {
    const labels = new Map<string, string>()
    for (const entry of this.projected) {
      if (entry.type !== "label") continue
      if (typeof entry.label === "string" && entry.label !== "") labels.set(String(entry.targetId), entry.label)
      else labels.delete(String(entry.targetId))
    }
    return Object.fromEntries(labels)
  }
}

/** The message of a projected entry; undefined for one that is none. What an extension said has the role `custom`. */
export const messageOf = (entry: ProjectedEntry): JsonObject | undefined => {
  const { content, customType, details, display, message, timestamp, type } = entry
  if (type === "message" && typeof message === "object" && message !== null) return { ...message }
  if (type !== "custom_message") return undefined
  return { role: "custom", customType, content, display, ...(details === undefined ? {} : { details }), timestamp: Date.parse(timestamp) || 0 }
}

/** The messages of some entries. */
export const messagesOf = (entries: ReadonlyArray<ProjectedEntry>): ReadonlyArray<JsonObject> =>
  entries.flatMap((entry) => {
    const message = messageOf(entry)
    return message === undefined ? [] : [message]
  })
