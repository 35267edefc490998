/** A unified diff with colours, and one made of what a call would change. Pure. */
import type { JsonObject } from "@nimlet/protocol"
import type { Palette } from "../Palette.ts"
import { firstLines, fit, hang, longestAsked, wrap } from "./Lines.ts"

/** How a diff is shown: so many of its lines, each whole or as much of it as fits; `more` is how the rest of a long one is seen. */
export interface DiffOptions {
  readonly count: number
  readonly whole: boolean
  readonly more?: string
  readonly palette: Palette
  readonly width: number
}

/** Lines of a unified diff, its file names left out. */
export const diffLines = (diff: string, { count, more: how = "", palette, whole, width }: DiffOptions): ReadonlyArray<string> => {
  const { lines, more } = firstLines(diff.replace(/^--- [^\n]*\n\+\+\+ [^\n]*\n/, ""), count, whole ? longestAsked : undefined)
  const painted = lines.flatMap((line) => {
    const style = line.startsWith("+") ? palette.green : line.startsWith("-") ? palette.red : line.startsWith("@@") ? palette.accent : palette.dim
    const cut = fit(line, width)
    return (!whole || cut === line || width < 2 ? [cut] : hang(line.slice(0, 1), wrap(line.slice(1), width - 1))).map(style)
  })
  return more === 0 ? painted : [...painted, palette.dim(fit(`… ${more} more lines${how === "" ? "" : ` (${how})`}`, width))]
}

const marked = (mark: string, text: string): ReadonlyArray<string> => text === "" ? [] : (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n").map((line) => `${mark}${line}`)

const textOf = (value: unknown): string => typeof value === "string" ? value : ""

/** What a call of edit or write would change, as a diff without line numbers; undefined for other calls. */
export const changeOf = (tool: string, args: JsonObject): string | undefined => {
  if (tool === "write" && typeof args["content"] === "string") return marked("+", args["content"]).join("\n")
  if (tool !== "edit") return undefined
  const replacements = [args, ...Array.isArray(args["replacements"]) ? args["replacements"] : []]
  const parts = replacements.flatMap((one: unknown) =>
    typeof one === "object" && one !== null && "old_text" in one
      ? [[...marked("-", textOf(one.old_text)), ...marked("+", "new_text" in one ? textOf(one.new_text) : "")].join("\n")]
      : [])
  return parts.length === 0 ? undefined : parts.join("\n@@\n")
}
