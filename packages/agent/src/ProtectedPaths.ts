/** Files that are no part of the work but decide what runs later: git's own, ours, and whatever is loaded from. Pure. */
import { projectRoots } from "./Trust/ProjectFiles.ts"

const always = [".git", ".nimlet"]

/** Settings of git's that hold everywhere, and have it run programs. */
const gitSettings = [".gitconfig", ".config/git", "etc/gitconfig"]

const ownRoots = (roots: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...always, ...projectRoots.skills, ...projectRoots.prompts, ...projectRoots.tools, ...roots].map((root) => root.toLowerCase())
const allRoots = (roots: ReadonlyArray<string>): ReadonlyArray<string> => [...gitSettings, ...ownRoots(roots)]

/**
 * Whether a file, by its real path, is one of them. `roots` are folders that hold extensions, relative to a home or a
 * workspace; wherever such a folder lies, what is in it is protected. Case does not count: it does not on every disk.
 */
export const isProtected = (real: string, roots: ReadonlyArray<string>): boolean => {
  const inside = `/${real.replaceAll("\\", "/").toLowerCase()}/`
  return allRoots(roots).some((root) => inside.includes(`/${root}/`))
}

/** Folders that such roots lie in and that are there for them: every beginning of a root, but for the root itself. */
const namespaces = (roots: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(ownRoots(roots).flatMap((root) => root.split("/").map((_, at, names) => names.slice(0, at).join("/"))))].filter((name) => name !== "")

/**
 * Whether a folder, by its real path, has such files in it, or would have them once a tree is put in its place. A home or a
 * workspace has, too, but is none of those.
 */
export const holdsProtected = (real: string, roots: ReadonlyArray<string>): boolean => {
  const path = `/${real.replaceAll("\\", "/").toLowerCase()}`
  return isProtected(real, roots) || namespaces(roots).some((name) => path.endsWith(`/${name}`))
}

/** A wildcard that is longer is not gone into: it may stand for anything. */
const longestWildcard = 1_000

/** A name with a shell's wildcards as what it matches; a leading one matches no leading dot. */
const matcher = (name: string): (text: string) => boolean => {
  if (!/[*?[]/.test(name)) return (text) => text === name
  if (name.length > longestWildcard) return () => true
  const source = name.replace(/[.+^${}()|\\]/g, "\\$&").replace(/\*+/g, ".*").replaceAll("?", ".").replaceAll("[!", "[^")
  try {
    const pattern = new RegExp(`^${/^[*?[]/.test(name) ? "(?!\\.)" : ""}${source}$`)
    return (text) => pattern.test(text)
  } catch {
    return (text) => text === name
  }
}

/** The same for a path as a shell would be given it, which may have wildcards; `whole` for one that a tree is put at. */
export const mayBeProtected = (word: string, roots: ReadonlyArray<string>, whole = false): boolean => {
  if (whole ? holdsProtected(word, roots) : isProtected(word, roots)) return true
  if (!/[*?[]/.test(word)) return false
  const matchers = word.toLowerCase().split("/").map(matcher)
  const isAt = (at: number, root: string) => root.split("/").every((name, index) => matchers[at + index]?.(name) === true)
  return allRoots(roots).some((root) => matchers.some((_, at) => isAt(at, root))) ||
    (whole && namespaces(roots).some((name) => isAt(matchers.length - name.split("/").length, name)))
}
