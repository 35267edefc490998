/** `ctx.sessionManager`: read-only views over the entries the host has told of. One file is one line of history. */
import type { Replica } from "./Replica.ts"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "./Values.ts"

/** Makes the view of one worker. */
export const makeSessionView = (replica: Replica, cwd: string) => {
  const session = (): Fields => fieldsOf(replica.get("session"))
  const entries = (): ReadonlyArray<Fields> => listOf(replica.get("entries")).filter(isFields)
  const find = (id: unknown): Fields | undefined => entries().find((entry) => entry["id"] === id)
  const labels = (): Fields => fieldsOf(replica.get("labels"))
  /** One that the host has not taken yet has no id to refer to. */
  const leaf = (): Fields | undefined => entries().findLast((entry) => !textOf(entry["id"]).startsWith("local-"))
  const name = (): string | undefined => textOf(session()["name"]) || undefined
  return {
    getCwd: () => cwd,
    getSessionDir: () => textOf(session()["dir"]),
    usesDefaultSessionDir: () => true,
    getSessionId: () => textOf(session()["id"]),
    getSessionFile: () => textOf(session()["file"]) || undefined,
    getLeafId: () => leaf()?.["id"] ?? null,
    getLeafEntry: leaf,
    getEntry: find,
    getLabel: (id: unknown) => {
      const label = labels()[textOf(id)]
      return typeof label === "string" ? label : undefined
    },
    /** From the first entry to the given one, or to the last. */
    getBranch: (from?: unknown) => {
      const all = entries()
      const at = from === undefined ? -1 : all.findIndex((entry) => entry["id"] === from)
      return at === -1 ? [...all] : all.slice(0, at + 1)
    },
    getHeader: () => ({ type: "session", id: textOf(session()["id"]), cwd, timestamp: textOf(session()["at"]) }),
    getEntries: () => [...entries()],
    getTree: () =>
      entries().reduceRight<ReadonlyArray<Fields>>((children, entry) => [{ entry, children, label: labels()[textOf(entry["id"])] }], []),
    getSessionName: name,
    getSessionNameState: () => ({ name: name() })
  }
}
