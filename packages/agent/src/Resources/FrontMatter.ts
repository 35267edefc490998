/**
 * What stands between `---` lines at the head of a markdown file: `key: value` lines. Read by lines, not as YAML: what people
 * write there is often none (a colon in a description). Pure.
 */

/** A file without its front matter, and that. Keys are as written, values one line each. */
export interface Sheet {
  readonly fields: ReadonlyMap<string, string>
  readonly body: string
  /** What of the front matter is not understood. */
  readonly faults: ReadonlyArray<string>
}

/** A line that other readers of front matter understand, if not this one: a comment, an item, a key that is written otherwise. */
const isOther = (line: string): boolean => /^\s*(#|-\s|$)|^[^\s:][^:]*:(\s|$)|^\s+\S/.test(line)

const unquoted = (value: string): string => /^(["']).*\1$/s.test(value) && value.length > 1 ? value.slice(1, -1) : value

/** Takes a text apart. One without front matter, or whose front matter has no end, is all body. */
export const sheetOf = (text: string): Sheet => {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/)
  const end = lines[0]?.trimEnd() === "---" ? lines.findIndex((line, index) => index > 0 && line.trimEnd() === "---") : -1
  if (end < 0) {
    // A line of hyphens is a ruler, too; a key below it tells what was meant.
    const isOpen = lines[0]?.trimEnd() === "---" && /^[\w-]+:(\s|$)/.test(lines[1] ?? "")
    return { fields: new Map(), body: lines.join("\n"), faults: isOpen ? ["the front matter has no end; put a line --- behind it"] : [] }
  }
  const faults: Array<string> = []
  const fields = new Map<string, string>()
  let open = ""
  for (const [index, line] of lines.slice(1, end).entries()) {
    const [, key, value] = /^([\w-]+):(?:\s+(.*))?$/.exec(line) ?? []
    if (key !== undefined) {
      open = key
      fields.set(key, /^[>|][+-]?$/.test(value?.trim() ?? "") ? "" : unquoted(value?.trim() ?? ""))
    } else if (/^\s+\S/.test(line) && open !== "") {
      fields.set(open, `${fields.get(open) ?? ""} ${line.trim()}`.trim())
    } else if (!isOther(line)) faults.push(`line ${index + 2} of its front matter is not understood; write it as \`key: value\``)
  }
  return { fields, body: lines.slice(end + 1).join("\n"), faults }
}
