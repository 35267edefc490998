/** A unified diff with colours, and one made of what a call would change. Pure. */
import type { JsonObject } from "@nimlet/protocol"
import type { Palette } from "../Palette.ts"
import { firstLines, fit } from "./Lines.ts"

/** Lines of a unified diff, its file names left out; `more` is how the rest of a long one is seen. */
export const diffLines = (diff: string, { count, more: how = "", palette, width }: { readonly count: number; readonly more?: string; readonly palette: Palette; readonly width: number }): ReadonlyArray<string> => {
  const { lines, more } = firstLines(diff.replace(/^--- [^\n]*\n\+\+\+ [^\n]*\n/, ""), count)
  const painted = lines.map((line) => {
    const cut = fit(line, width)
    return line.startsWith("+") ? palette.green(cut) : line.startsWith("-") ? palette.red(cut) : line.startsWith("@@") ? palette.accent(cut) : palette.dim(cut)
  })
  return more === 0 ? painted : [...painted, palette.dim(fit(`… ${more} more lines${how === "" ? "" : ` (${how})`}`, width))]
}

const marked = (mark: string, text: string): ReadonlyArray<string> => text === "" ? [] : (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n").map((line) => `${mark}${line}`)

const textOf = (value: unknown): string => typeof value === "string" ? value : ""

/** What a call of edit or write would change, as a diff without line numbers; undefined for other calls. */
export const changeOf = (tool: string, args: JsonObject): string | undefined => {
  if (tool === "write" && typeof args["content"] === "string") return marked("+", args["content"]).join("\n")
  if (tool !== "edit") return undefined
  const replacements = Array.isArray(args["replacements"]) ? args["replacements"] : [args]
  const parts = replacements.flatMap((one: unknown) =>
    typeof one === "object" && one !== null && "old_text" in one
      ? [[...marked("-", textOf(one.old_text)), ...marked("+", "new_text" in one ? textOf(one.new_text) : "")].join("\n")]
      : [])
  return parts.length === 0 ? undefined : parts.join("\n@@\n")
}
