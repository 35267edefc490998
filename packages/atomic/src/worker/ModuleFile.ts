/** Which file an import of a path means: authors leave out endings, name folders, or write the ending it will have when compiled. */
import { statSync } from "node:fs"

const endings = [".ts", ".mts", ".js", ".mjs", ".cts", ".cjs", ".json", "/index.ts", "/index.mts", "/index.js", "/index.mjs"]
const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true

/** The file that `path` without an ending, or with the one it will have when compiled, stands for. */
export const fileFor = (path: string): string | undefined => {
  if (isFile(path)) return path
  const source = path.replace(/\.([cm]?)js$/, ".$1ts")
  if (source !== path && isFile(source)) return source
  return endings.map((ending) => path + ending).find(isFile)
}
