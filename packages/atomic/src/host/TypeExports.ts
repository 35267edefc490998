/**
 * What authors export although it is only a type (`export { T } from "./t"`) need not say `type`: once types are stripped nothing
 * of that name is left, and Node links no module that exports what is not there.
 */
import { readFileSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { fileFor } from "../worker/ModuleFile.ts"

const comment = String.raw`\/\*[\s\S]*?\*\/|(?<![:\\])\/\/[^\n]*`
const literal = "`(?:\\\\[\\s\\S]|[^`\\\\])*`|" + String.raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`
const comments = new RegExp(`(${comment})|${literal}`, "g")
const clauses = new RegExp(
  String.raw`${comment}|${literal}|(?<![\w$.])(?<kind>import|export)(?<type>\s+type)?\s*(?:[\w$]+\s*,\s*)?\{(?<inner>[^{}"'();=]*)\}(?:\s*from\s*(?<from>"[^"\n]*"|'[^'\n]*'))?`,
  "g"
)
const stars = /^\s*export\s*\*\s*from\s*["']([^"'\n]+)["']/gm

interface Clause {
  readonly start: number
  readonly text: string
  readonly exports: boolean
  readonly type: boolean
  readonly inner: string
  readonly from: string | undefined
}

interface Binding {
  readonly name: string
  readonly as: string
  readonly type: boolean
}

const clausesOf = (source: string): ReadonlyArray<Clause> =>
  [...source.matchAll(clauses)].flatMap(({ 0: text, groups = {}, index }) =>
    groups["kind"] === undefined ? [] : [{
      start: index,
      text,
      exports: groups["kind"] === "export",
      type: groups["type"] !== undefined,
      inner: groups["inner"] ?? "",
      from: groups["from"]?.slice(1, -1)
    }]
  )

const bindingOf = (text: string): Binding | undefined => {
  const found = /^\s*(type\s+)?([\w$]+)(?:\s+as\s+([\w$]+))?\s*$/.exec(text)
  return found?.[2] === undefined ? undefined : { name: found[2], as: found[3] ?? found[2], type: found[1] !== undefined }
}

const bindingsOf = ({ inner }: Clause): ReadonlyArray<Binding> => inner.split(",").flatMap((each) => bindingOf(each) ?? [])

const mentions = (source: string, name: string): boolean => new RegExp(String.raw`(?<![\w$])${name.replaceAll("$", "\\$")}(?![\w$])`).test(source)

/** The file an import of a path means; undefined for packages. */
const targetOf = (from: string, file: string): string | undefined =>
  /^\.{0,2}\//.test(from) ? fileFor(resolve(dirname(file), from)) : undefined

/** Whether a TypeScript module exports `name` only as a type. */
const isType = (file: string, name: string, seen: ReadonlySet<string> = new Set()): boolean => {
  if (!/\.[cm]?ts$/.test(file) || seen.has(file)) return false
  const within = new Set([...seen, file])
  const source = readFileSync(file, "utf8").replace(comments, (text, said: string | undefined) => said === undefined ? text : " ")
  const from = (text: string | undefined, original: string): boolean => {
    const target = text === undefined ? undefined : targetOf(text, file)
    return target !== undefined && isType(target, original, within)
  }
  const declared = (local: string): boolean =>
    new RegExp(String.raw`(?<![\w$.])(?:interface|type)\s+${local.replaceAll("$", "\\$")}\s*[=<{e]`).test(source) &&
    !new RegExp(String.raw`(?<![\w$.])(?:const|let|var|function\*?|class|enum|namespace)\s+${local.replaceAll("$", "\\$")}(?![\w$])`).test(source)
  if (declared(name)) return true
  const all = clausesOf(source)
  for (const clause of all.filter(({ exports }) => exports)) {
    const binding = bindingsOf(clause).find(({ as }) => as === name)
    if (binding === undefined) continue
    if (clause.type || binding.type) return true
    if (clause.from !== undefined) return from(clause.from, binding.name)
    const taken = all.filter(({ exports }) => !exports).map((each) => ({ each, found: bindingsOf(each).find(({ as }) => as === binding.name) }))
      .find(({ found }) => found !== undefined)
    if (taken?.found === undefined) return declared(binding.name)
    return taken.each.type || taken.found.type || from(taken.each.from, taken.found.name)
  }
  return [...source.matchAll(stars)].some(([, text]) => from(text, name))
}

const blank = (text: string): string => text.replace(/[^\n]/g, " ")

/** The JavaScript of `file` without exports of what is only a type. Places stay; what is exported of a package that lacks it is undefined. */
export const withoutTypeExports = (source: string, file: string): string => {
  const all = clausesOf(source)
  const exported = all.filter(({ exports }) => exports)
  if (exported.length === 0) return source
  let rest = source
  for (const { start, text } of exported) rest = rest.slice(0, start) + blank(text) + rest.slice(start + text.length)
  const imported = new Map(all.filter(({ exports }) => !exports).flatMap((clause) => bindingsOf(clause).map((each) => [each.as, { name: each.name, from: clause.from ?? "" }])))
  const gone = ({ name }: Binding, from: string | undefined): boolean => {
    const taken = from === undefined ? imported.get(name) : { name, from }
    if (taken === undefined) return !mentions(rest, name)
    const target = targetOf(taken.from, file)
    return target !== undefined && isType(target, taken.name)
  }
  let result = source
  for (const [at, { from, inner, start, text }] of [...exported.entries()].reverse()) {
    // Nothing says which names of a package are types; one it lacks must not keep the others from being linked.
    const lenient = from !== undefined && !/^(?:[./]|node:)/.test(from)
    const bindings = inner.split(",").map((each) => ({ each, binding: bindingOf(each) }))
    const named = bindings.flatMap(({ binding }) => binding ?? [])
    const changed = lenient && named.every(({ as }) => as !== "default")
      ? `import * as __from${at} from ${JSON.stringify(from)};${named.map(({ as, name }) => `export const ${as} = __from${at}[${JSON.stringify(name)}];`).join("")}${text.replace(/[^\n]/g, "")}`
      : text.replace(inner, () =>
        bindings.map(({ binding, each }, n) => {
          const comma = n < bindings.length - 1 ? "," : ""
          return binding !== undefined && gone(binding, from) ? blank(each + comma) : each + comma
        }).join(""))
    result = result.slice(0, start) + changed + result.slice(start + text.length)
  }
  return result
}
