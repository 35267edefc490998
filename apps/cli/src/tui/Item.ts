/** What stands in the transcript: plain values that never change once they are settled. Pure. */
import { textOf } from "@nimlet/protocol"
import { callsOf, type Entries, isAssistant, isCustomMessage, isResult, saidIn } from "@nimlet/session"
import { accountIn } from "./ShellAccount.ts"

/** A tool call as it goes. `output` is what came so far, its end when it is long. */
export interface CallItem {
  readonly kind: "call"
  readonly id: string
  readonly name: string
  readonly input: unknown
  readonly output: string
  readonly state: "running" | "done" | "failed"
  readonly millis?: number
  readonly diff?: string
}

/** Words of the model, and its thinking; `done` when no more will come, `told` when a command says it. `id` names it while it grows. */
export interface SpokenItem {
  readonly kind: "answer" | "thinking"
  readonly id: number
  readonly text: string
  readonly done: boolean
  readonly told?: true
}

/** One thing in the transcript. A notice says who it comes `from` when that is an extension. */
export type Item =
  | { readonly kind: "user"; readonly text: string }
  | SpokenItem
  | CallItem
  | { readonly kind: "notice"; readonly level: "info" | "warning" | "error"; readonly text: string; readonly from?: string }
  | { readonly kind: "welcome"; readonly version: string; readonly folder: string }

/** Whether nothing of it can change any more. */
export const isSettled = (item: Item): boolean =>
  item.kind === "call" ? item.state !== "running" : item.kind === "answer" || item.kind === "thinking" ? item.done : true

/** The unified diff that a tool leaves for people. */
export const diffOf = (details: unknown): string | undefined =>
  typeof details === "object" && details !== null && "diff" in details && typeof details.diff === "string" ? details.diff : undefined

/** What the person said, as it is shown: a command of theirs as one that was run. */
export const saidItem = (text: string, id: string): Item => {
  const account = accountIn(text)
  return account === undefined
    ? { kind: "user", text }
    : { kind: "call", id, name: "!", input: { command: account.command }, output: account.output, state: account.code === "0" ? "done" : "failed" }
}

/** The transcript of a session that is gone on with. `ids` gives the names of what the model said. */
export const itemsOf = (entries: Entries, ids: () => number): ReadonlyArray<Item> => {
  const results = new Map(entries.filter(isResult).map((entry) => [entry.id, entry]))
  return entries.flatMap((entry): ReadonlyArray<Item> => {
    if (entry.type === "user" && "role" in entry) return [saidItem(saidIn(entry), `shell-${ids()}`)]
    if (isCustomMessage(entry)) return entry.display && entry.role !== "system" ? [{ kind: "user", text: textOf(entry.content) }] : []
    if (entry.type === "compaction") return [{ kind: "notice", level: "info", text: "The conversation up to here was summed up." }]
    if (!isAssistant(entry)) return []
    const text = textOf(entry.content)
    const calls = callsOf(entry).map(({ id, input, name }): CallItem => {
      const result = results.get(id)
      const diff = diffOf(result?.details)
      return { kind: "call", id, name, input, output: result?.output ?? "", state: result?.is_error === false ? "done" : "failed", ...(diff === undefined ? {} : { diff }) }
    })
    return [...(text === "" ? [] : [{ kind: "answer", id: ids(), text, done: true } as const]), ...calls]
  })
}
