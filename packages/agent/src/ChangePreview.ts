/** What a call would change in a file, in lines for a person who is asked about it. Pure; the file itself is not read. */
import type { JsonObject } from "@nimlet/protocol"

const most = 40

const lines = (sign: string, text: unknown): ReadonlyArray<string> =>
  typeof text === "string" && text !== "" ? text.replace(/\n$/, "").split("\n").map((line) => `${sign}${line}`) : []

const ofEdit = (args: JsonObject): ReadonlyArray<string> => {
  const more = Array.isArray(args["replacements"]) ? args["replacements"] : []
  return [args, ...more].flatMap((one: JsonObject) => [...lines("-", one["old_text"]), ...lines("+", one["new_text"])])
}

/** At most 40 lines that would go (`-`) and come (`+`). */
export const changePreview = (tool: string, args: JsonObject): string => {
  const all = tool === "edit" ? ofEdit(args) : lines("+", args["content"])
  return all.length > most ? [...all.slice(0, most), `… ${all.length - most} more lines`].join("\n") : all.join("\n")
}
