/** Why a module did not load, with the author's file and line that it is about: Node tells many of those places in the stack alone, or not at all. */
import { readFileSync } from "node:fs"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"

/** What was being done when loading failed. */
export interface Attempt {
  /** Address of the module whose text was handed to Node last. */
  opened: string
  /** The import that was resolved to nothing, and the address of the module it stands in. */
  unresolved?: { readonly specifier: string; readonly from: string }
}

/** The first line of a file that has `specifier` in quotes. */
const lineOf = (specifier: string, file: string): number => {
  const lines = readFileSync(file, "utf8").split("\n")
  return 1 + lines.findIndex((line) => [`"${specifier}"`, `'${specifier}'`, `\`${specifier}\``].some((quoted) => line.includes(quoted)))
}

const placeOf = (error: Error, { opened, unresolved }: Attempt, check: (file: string) => void): string | undefined => {
  if (unresolved !== undefined && "code" in error && /^ERR_(?:MODULE_NOT_FOUND|PACKAGE_PATH_NOT_EXPORTED|UNSUPPORTED_DIR_IMPORT)$/.test(String(error.code))) {
    const file = fileURLToPath(unresolved.from)
    const line = lineOf(unresolved.specifier, file)
    return line === 0 ? basename(file) : `${basename(file)}:${line}`
  }
  // What was not linked stands before the error itself.
  const linked = /^file:\/\/\S*?([^/]+?)(?:\?generation=\d+)?:(\d+)\n/.exec(error.stack ?? "")
  if (linked !== null) return `${linked[1]}:${linked[2]}`
  // Only Node itself is in the stack of a text that does not compile, and no place.
  if (!(error instanceof SyntaxError) || /^\s+at .*file:/m.test(error.stack ?? "") || !opened.startsWith("file:")) return undefined
  const file = fileURLToPath(opened)
  try {
    check(file)
  } catch (found) {
    const line = found instanceof Error ? /\(([^()]+:\d+)\)$/.exec(found.message)?.[1] : undefined
    if (line !== undefined) return line
  }
  // What parses as TypeScript and not as JavaScript.
  const decorator = /Invalid or unexpected token/.test(error.message) ? readFileSync(file, "utf8").split("\n").findIndex((line) => /^\s*@[\w$]/.test(line)) : -1
  return decorator === -1 ? basename(file) : `${basename(file)}:${decorator + 1}; decorators are not run, call the function instead`
}

/** The error as it is told; `check` throws one that names the line of a file that does not parse. `own` frames are ours, not the author's. */
export const located = (error: unknown, attempt: Attempt, own: string, check: (file: string) => void): unknown => {
  if (!(error instanceof Error)) return error
  const place = placeOf(error, attempt, check)
  if (place === undefined) {
    error.stack = error.stack?.split("\n").filter((line) => !line.includes(own)).join("\n") ?? ""
    return error
  }
  const message = `${error.message.split("\n")[0]} (${place})`
  const told = error instanceof SyntaxError ? new SyntaxError(message) : new Error(message)
  told.stack = message
  return told
}
