/** Patterns for paths: `*`, `?`, `**`, `[…]` and `{a,b}`. Pure. */

const sign: Readonly<Record<string, string>> = { "**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]", "{": "(?:", ",": "|", "}": ")" }
const escaped = (text: string): string => text.replaceAll(/[.+^$()|\\{}[\],/-]/g, "\\$&")

/** Whether a path with slashes, relative to where the search began, is meant. A pattern without a slash is for names anywhere. */
export const globMatcher = (pattern: string): (path: string) => boolean => {
  const wanted = pattern.replace(/^\.?\//, "")
  let depth = 0
  const source = wanted.replaceAll(/\*\*\/|\*\*|[*?{},]|\[!?[^\]/]+\]|[^*?{},[]+|\[/g, (part) => {
    if (part.length > 2 && part.startsWith("[")) return part.replace("[!", "[^").replaceAll("\\", "\\\\")
    if (part === "{") depth++
    const inBraces = depth > 0
    if (part === "}" && inBraces) depth--
    return (part === "," || part === "}") && !inBraces ? escaped(part) : sign[part] ?? escaped(part)
  })
  const whole = new RegExp(`^${source}${")".repeat(depth)}$`, "s")
  return (path) => whole.test(wanted.includes("/") ? path : path.slice(path.lastIndexOf("/") + 1))
}
