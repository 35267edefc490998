/** Files that are no part of the work but decide what runs later: git's own, ours, and whatever is loaded from. Pure. */
import { projectRoots } from "./Trust/ProjectFiles.ts"

const always = [".git", ".nimlet"]

const allRoots = (roots: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...always, ...projectRoots.skills, ...projectRoots.prompts, ...projectRoots.tools, ...roots].map((root) => root.toLowerCase())

/**
 * Whether a file, by its real path, is one of them. `roots` are folders that hold extensions, relative to a home or a
 * workspace; wherever such a folder lies, what is in it is protected. Case does not count: it does not on every disk.
 */
export const isProtected = (real: string, roots: ReadonlyArray<string>): boolean => {
  const inside = `/${real.replaceAll("\\", "/").toLowerCase()}/`
  return allRoots(roots).some((root) => inside.includes(`/${root}/`))
}

/** A name with a shell's wildcards as what it matches; a leading one matches no leading dot. */
const matcher = (name: string): (text: string) => boolean => {
  if (!/[*?[]/.test(name)) return (text) => text === name
  const source = name.replace(/[.+^${}()|\\]/g, "\\$&").replace(/\*+/g, ".*").replaceAll("?", ".").replaceAll("[!", "[^")
  try {
    const pattern = new RegExp(`^${/^[*?[]/.test(name) ? "(?!\\.)" : ""}${source}$`)
    return (text) => pattern.test(text)
  } catch {
    return (text) => text === name
  }
}

/** The same for a path as a shell would be given it, which may have wildcards. */
export const mayBeProtected = (word: string, roots: ReadonlyArray<string>): boolean => {
  if (isProtected(word, roots)) return true
  if (!/[*?[]/.test(word)) return false
  const matchers = word.toLowerCase().split("/").map(matcher)
  return allRoots(roots).some((root) => {
    const names = root.split("/")
    return matchers.some((_, at) => names.every((name, index) => matchers[at + index]?.(name) === true))
  })
}
