/**
 * What stands between `---` lines at the head of a markdown file: `key: value` lines. Read by lines, not as YAML: what people
 * write there is often none (a colon in a description). Pure.
 */

/** A file without its front matter, and that. Keys are as written, values one line each. */
export interface Sheet {
  readonly fields: ReadonlyMap<string, string>
  readonly body: string
}

const unquoted = (value: string): string => /^(["']).*\1$/s.test(value) && value.length > 1 ? value.slice(1, -1) : value

/** Takes a text apart. One without front matter, or whose front matter has no end, is all body. */
export const sheetOf = (text: string): Sheet => {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/)
  const end = lines[0]?.trimEnd() === "---" ? lines.findIndex((line, index) => index > 0 && line.trimEnd() === "---") : -1
  if (end < 0) return { fields: new Map(), body: lines.join("\n") }
  const fields = new Map<string, string>()
  let open = ""
  for (const line of lines.slice(1, end)) {
    const [, key, value] = /^([\w-]+):(?:\s+(.*))?$/.exec(line) ?? []
    if (key !== undefined) {
      open = key
      fields.set(key, /^[>|][+-]?$/.test(value?.trim() ?? "") ? "" : unquoted(value?.trim() ?? ""))
    } else if (/^\s+\S/.test(line) && open !== "") {
      fields.set(open, `${fields.get(open) ?? ""} ${line.trim()}`.trim())
    }
  }
  return { fields, body: lines.slice(end + 1).join("\n") }
}
