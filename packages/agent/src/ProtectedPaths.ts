/** Files that are no part of the work but decide what runs later: git's own, ours, and whatever is loaded from. Pure. */
import { projectRoots } from "./Trust/ProjectFiles.ts"

const always = [".git", ".nimlet"]

/**
 * Whether a file, by its real path, is one of them. `roots` are folders that hold extensions, relative to a home or a
 * workspace; wherever such a folder lies, what is in it is protected. Case does not count: it does not on every disk.
 */
export const isProtected = (real: string, roots: ReadonlyArray<string>): boolean => {
  const inside = `/${real.replaceAll("\\", "/").toLowerCase()}/`
  return [...always, ...projectRoots.skills, ...projectRoots.prompts, ...projectRoots.tools, ...roots].some((root) => inside.includes(`/${root.toLowerCase()}/`))
}
