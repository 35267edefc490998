/**
 * How modules of an extension are found and turned into JavaScript: the host strips types (no compiler is loaded here),
 * the packages of the extension API are ours, and imports without an extension or of a folder work as authors are used to.
 */
import { enableCompileCache, flushCompileCache, registerHooks } from "node:module"
import { dirname } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import type { HostSync } from "./HostSync.ts"
import { type Attempt, located } from "./LoadFailure.ts"
import { fileFor } from "./ModuleFile.ts"
import { fieldsOf, textOf } from "./Values.ts"

/** The folder of the worker half: its own imports are left alone. */
const own = new URL(".", import.meta.url).href

/** The mark of a generation on the addresses of its own modules, which makes them others than those before. */
const markOf = (url: string): string => /\?generation=\d+$/.exec(url)?.[0] ?? ""

/** The address of a module as the generation loads it; the first ones are plain. */
export const addressOf = (path: string, generation: number): string =>
  pathToFileURL(path).href + (generation === 0 ? "" : `?generation=${generation}`)

let host: HostSync | undefined
const attempt: Attempt = { opened: "" }

/** What an import of the extension threw, with its place. */
export const explain = (error: unknown): unknown => located(error, attempt, own, (file) => host?.call("load", file))

let compiled: "nothing" | "new" | "kept" = "nothing"

/** What stands behind packages may be large: Node is to compile it once, not once a worker. Nothing is done where none is imported. */
const compileOnce = (): void => {
  if (compiled !== "nothing") return
  compiled = "new"
  enableCompileCache()
}

/** Called when the extension is loaded: keeps what was compiled for the next worker. */
export const keepCompiled = (): void => {
  if (compiled !== "new") return
  compiled = "kept"
  flushCompileCache()
}

/** Installs the hooks for good, once; later calls say by whom modules are turned from now on. `aliases` are whole specifiers. */
export const load = (aliases: Readonly<Record<string, string>>, sync: HostSync): void => {
  const installed = host !== undefined
  host = sync
  if (installed) return
  registerHooks({
    resolve: (specifier, context, next) => {
      const from = context.parentURL ?? ""
      if (from.startsWith(own)) return next(specifier, context)
      const alias = aliases[specifier]
      if (alias !== undefined) {
        compileOnce()
        return { url: alias, shortCircuit: true }
      }
      if (/^\.{0,2}\//.test(specifier) && from.startsWith("file:")) {
        const file = fileFor(fileURLToPath(new URL(specifier, from)))
        if (file !== undefined) {
          const url = pathToFileURL(file).href + (/\.[cm]?[jt]s$/.test(file) ? markOf(from) : "")
          // Node resolves no address for `require`.
          if (context.conditions.includes("require")) return { url, shortCircuit: true }
          // Authors import JSON without saying that it is.
          return file.endsWith(".json") ? { ...next(url, context), importAttributes: { type: "json" } } : next(url, context)
        }
      }
      try {
        return next(specifier, context)
      } catch (error) {
        if (from.startsWith("file:")) attempt.unresolved = { specifier, from }
        throw error
      }
    },
    load: (url, context, next) => {
      if (!url.startsWith(own)) attempt.opened = url
      if (!url.startsWith("file:") || url.startsWith(own) || !/\.[cm]?ts$/.test(new URL(url).pathname)) return next(url, context)
      const answer = fieldsOf(host?.call("load", fileURLToPath(url)))
      const source = textOf(answer["source"])
      const format = textOf(answer["format"])
      if (format === "commonjs") return { format, source, shortCircuit: true }
      return { format: "module", source: namesFor(source, fileURLToPath(url)) + source, shortCircuit: true }
    }
  })
}

/** The names of CommonJS that authors use in modules as well, declared where a module uses them and makes none itself. */
const namesFor = (source: string, file: string): string => {
  const values = {
    __filename: JSON.stringify(file),
    __dirname: JSON.stringify(dirname(file)),
    require: `process.getBuiltinModule("node:module").createRequire(${JSON.stringify(file)})`
  }
  return Object.entries(values)
    .filter(([name]) => new RegExp(`\\b${name}\\b`).test(source) && !declares(source, name))
    .map(([name, value]) => `const ${name} = ${value};`)
    .join("")
}

/** Whether a module makes a name itself: alone, among others, out of an object, or by an import. */
const declares = (source: string, name: string): boolean =>
  new RegExp(`\\b(?:const|let|var|function|class)\\s+${name}\\b|,\\s*${name}\\s*=[^=>]|\\b(?:const|let|var)\\s*\\{[^}]*\\b${name}\\b[^}]*\\}\\s*=|\\bimport\\b[^;"'()]*\\b${name}\\b[^;"'()]*\\bfrom\\b`).test(source)
