/**
 * What authors import only for its type need not say `type`: once types are stripped, nothing uses the name any more, and the
 * module it comes from may have no such export.
 */

/** What is looked at in one go; what stands in texts is no code, and what stands in comments uses nothing. */
const tokens =
  /(?<comment>\/\*[\s\S]*?\*\/|(?<![:\\])\/\/[^\n]*)|`(?:\\[\s\S]|[^`\\])*`|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(?<![\w$.])import\b(?<clause>[^"'`;()=]+?)\bfrom\s*(?:"[^"\n]*"|'[^'\n]*')/g

/** Blanks of the same shape, so that every place in the file stays where it was. */
const blank = (text: string): string => text.replace(/[^\n]/g, " ")

/** The name a module uses for what `binding` (`a`, `a as b`, `* as c`) imports. */
const localOf = (binding: string): string | undefined => /([\p{ID_Start}$_][\p{ID_Continue}$]*)\s*$/u.exec(binding)?.[1]

/** The JavaScript without imports that it uses nowhere; those for their effects alone, and all places, stay. */
export const withoutUnusedImports = (source: string): string => {
  const rest = source.replace(tokens, (text, ...found) => {
    const groups: Record<string, string | undefined> = found.at(-1)
    return groups["comment"] !== undefined || groups["clause"] !== undefined ? blank(text) : text
  })
  const used = new Set(rest.match(/[\p{ID_Start}$_][\p{ID_Continue}$]*/gu))
  return source.replace(tokens, (text, ...found) => {
    const groups: Record<string, string | undefined> = found.at(-1)
    const clause = groups["clause"]
    if (clause === undefined || /\/[*/]/.test(clause)) return text
    const isUnused = (binding: string): boolean => {
      const local = localOf(binding)
      return local !== undefined && !used.has(local)
    }
    const bindings = clause.split(/[{},]/).filter((each) => each.trim() !== "")
    if (bindings.length === 0) return text
    if (bindings.every(isUnused)) return blank(text)
    const [head = "", inner, tail = ""] = clause.split(/[{}]/)
    if (inner === undefined) return text
    const kept = inner.replace(/[^,]+,?/g, (each) => isUnused(each.replace(",", "")) ? blank(each) : each)
    return text.replace(clause, () => `${isUnused(head.replace(",", "")) ? blank(head) : head}{${kept}}${tail}`)
  })
}
