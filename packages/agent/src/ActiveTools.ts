/**
 * Which tools extensions want offered (seed 004, `setActiveTools`), and what the model is told when that changes in the middle of
 * a conversation. Plain state of one agent.
 */
import type { CustomMessageEntry } from "@nimlet/protocol"
import type { OfferedTool, ToolSet } from "./ToolSet.ts"

/** A choice of tools. One that is registered later is offered: only what was there can have been left out. */
export interface ActiveTools {
  /** Names of tools that are not offered; another object when the choice has changed. */
  readonly withheld: () => ReadonlySet<string>
  /** Offers of the tools that are `known` only those named. */
  readonly choose: (names: ReadonlyArray<string>, known: ReadonlyArray<string>) => void
  /** Offers all again, to a model that was told of none: another session begins. */
  readonly reset: () => void
  /**
   * Called once before each request: what the conversation has to say of the tools it offers, for a model that knew others; undefined
   * when nobody has chosen since.
   */
  readonly news: (tools: ToolSet) => CustomMessageEntry | undefined
}

const listed = ({ snippet, tool }: OfferedTool): string => snippet === undefined ? tool.name : `${tool.name} (${snippet})`

const newsText = (added: ReadonlyArray<OfferedTool>, removed: ReadonlyArray<string>): string =>
  [
    ...(added.length === 0 ? [] : [`These tools are available from now on: ${added.map(listed).join(", ")}.`]),
    ...(removed.length === 0 ? [] : [`These tools are no longer available: ${removed.join(", ")}.`]),
    ...added.flatMap(({ guidelines = [] }) => guidelines)
  ].join("\n")

/** No choice yet. */
export const makeActiveTools = (): ActiveTools => {
  let withheld: ReadonlySet<string> = new Set()
  let chosen = false
  let told: ReadonlyArray<string> | undefined
  return {
    withheld: () => withheld,
    choose: (names, known) => {
      const wanted = new Set(names)
      withheld = new Set(known.filter((name) => !wanted.has(name)))
      chosen = true
    },
    reset: () => {
      withheld = new Set()
      chosen = false
      told = undefined
    },
    news: ({ tools }) => {
      const before = told
      const isNews = chosen && before !== undefined
      told = tools.map(({ tool }) => tool.name)
      chosen = false
      if (!isNews) return undefined
      const added = tools.filter(({ tool }) => !before.includes(tool.name))
      const removed = before.filter((name) => !told?.includes(name))
      if (added.length + removed.length === 0) return undefined
      return {
        type: "custom_message",
        custom_type: "active_tools",
        role: "system",
        content: [{ type: "text", text: newsText(added, removed) }],
        display: false,
        details: { added: added.map(({ tool }) => tool.name), removed }
      }
    }
  }
}
