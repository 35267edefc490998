/**
 * The workspace's rules as pure functions: each takes manifests or parsed files and gives the sentences of what breaks
 * the rule, none when all is well. `architecture.test.ts` runs them on made-up input first and then on the workspace.
 */
import { posix } from "node:path"
import { parseSync } from "rolldown/utils"

/** A TypeScript file: its path from the workspace's root, with `/`, and its text. */
export interface Source {
  readonly path: string
  readonly text: string
}

/** What the rules need to know of a file. */
export interface ParsedFile extends Source {
  /** The specifiers of all imports and re-exports, static and dynamic, in order. */
  readonly imports: ReadonlyArray<string>
  /** Names of exported functions, constants and classes. */
  readonly values: ReadonlyArray<string>
  /** Names of exported declarations without a docstring. */
  readonly undocumented: ReadonlyArray<string>
  /** Places where the type checker is talked out of its work. */
  readonly loose: ReadonlyArray<string>
}

/** The parts of a `package.json` that the rules read; `folder` is where it lies, `""` for the root. */
export interface Manifest {
  readonly folder: string
  readonly name: string
  readonly bin?: unknown
  readonly exports?: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

interface Node {
  readonly type: string
  readonly start: number
  readonly [key: string]: unknown
}
const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"
const children = (node: Node): ReadonlyArray<Node> =>
  Object.values(node).flatMap((value) => (Array.isArray(value) ? value : [value])).filter(isNode)
const visit = (node: Node, seen: (node: Node) => void): void => {
  seen(node)
  for (const child of children(node)) visit(child, seen)
}
const nameOf = (node: unknown): string | undefined =>
  isNode(node) && typeof node["name"] === "string" ? node["name"] : isNode(node) && typeof node["value"] === "string" ? node["value"] : undefined
const literal = (node: unknown): string | undefined =>
  isNode(node) && node.type === "Literal" && typeof node["value"] === "string" ? node["value"] : undefined

/** The names that one top-level declaration gives. */
const declaredNames = (declaration: Node): ReadonlyArray<string> => {
  const declarators = declaration["declarations"]
  const ids = Array.isArray(declarators) ? declarators.filter(isNode).map((one) => one["id"]) : [declaration["id"]]
  return ids.flatMap((id) => nameOf(id) ?? [])
}

/** Reads a file's imports, exports and loose types. Throws when it is not TypeScript: a test shall show that. */
export const parse = ({ path, text }: Source): ParsedFile => {
  const { comments, errors, program: root } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`)
  const program: unknown = root
  if (!isNode(program)) throw new Error(`${path}: no syntax tree`)
  const lineOf = (offset: number): number => text.slice(0, offset).split("\n").length

  const imports: Array<string> = []
  const loose: Array<string> = []
  visit(program, (node) => {
    const specifier = literal(node["source"])
    if (specifier !== undefined && /^(Import|Export|TSImport)/.test(node.type)) imports.push(specifier)
    const found = node.type === "TSAnyKeyword" ? "`any`"
      : node.type === "TSNonNullExpression" ? "`!`"
      : node.type === "TSAsExpression" && isNode(node["expression"]) && node["expression"].type === "TSAsExpression" ? "a cast of a cast"
      : undefined
    if (found !== undefined) loose.push(`${found} in line ${lineOf(node.start)}`)
  })
  for (const comment of comments) {
    if (/^\s*@ts-/.test(comment.value)) loose.push(`${comment.value.trim().split(" ")[0]} in line ${lineOf(comment.start)}`)
  }

  const documented = new Set<string>()
  const exported = new Set<string>()
  const values = new Set<string>()
  for (const statement of children(program)) {
    const declaration = statement.type.startsWith("Export") && isNode(statement["declaration"]) ? statement["declaration"] : statement
    const names = declaredNames(declaration)
    const before = text.slice(0, statement.start).trimEnd()
    const above = comments.find(({ end }) => end === before.length)
    if (above?.type === "Block" && above.value.startsWith("*")) for (const name of names) documented.add(name)
    if (statement !== declaration) for (const name of names) exported.add(name)
    if (statement !== declaration && !declaration.type.startsWith("TS")) for (const name of names) values.add(name)
    const specifiers = statement["specifiers"]
    if (statement.type === "ExportNamedDeclaration" && statement["source"] === null && Array.isArray(specifiers)) {
      for (const specifier of specifiers) if (isNode(specifier)) exported.add(nameOf(specifier["local"]) ?? "")
    }
  }
  return { path, text, imports, loose, values: [...values], undocumented: [...exported].filter((name) => !documented.has(name)) }
}

/** The floor of each package: imports go only to a lower one. */
export const floors: Readonly<Record<string, number>> = {
  "@nimlet/protocol": 0, "@nimlet/actor": 0, "@nimlet/provider": 0,
  "@nimlet/session": 1, "@nimlet/sdk": 1, "@nimlet/extension": 1, "@nimlet/tools": 1,
  "@nimlet/agent": 2, "@nimlet/atomic": 3, nimlet: 4
}

/** `packages/x` or `apps/x` of a path, or `""` for what belongs to the root. */
const folderOf = (path: string): string => /^(?:packages|apps)\/[^/]+(?=\/)/.exec(path)?.[0] ?? ""
/** The package a specifier names: `effect/Schema` is `effect`, `@nimlet/x/y` is `@nimlet/x`. */
const packageOf = (specifier: string): string => specifier.split("/").slice(0, specifier.startsWith("@") ? 2 : 1).join("/")
/** A path, or a name that the package's own `imports` gives to something. */
const isRelative = (specifier: string): boolean => specifier.startsWith(".") || specifier.startsWith("#")
const isProduct = (path: string): boolean => /^(packages|apps)\/[^/]+\/src\//.test(path)
const isTest = (path: string): boolean => /^test\/|^(packages|apps)\/[^/]+\/test\//.test(path)
const target = (file: Source, specifier: string): string => posix.join(posix.dirname(file.path), specifier)
const ownerOf = (manifests: ReadonlyArray<Manifest>, path: string): Manifest | undefined =>
  manifests.find(({ folder }) => folder === folderOf(path))

/** Dependencies and imports of our own packages go down, never sideways or up. */
export const upward = (manifests: ReadonlyArray<Manifest>, files: ReadonlyArray<ParsedFile>): ReadonlyArray<string> => {
  const ours = manifests.filter(({ folder }) => folder !== "")
  const isOurs = (name: string): boolean => name in floors || name.startsWith("@nimlet/")
  const breaks = (from: string, to: string): boolean => to !== from && !((floors[to] ?? Infinity) < (floors[from] ?? -1))
  return [
    ...ours.filter(({ name }) => !(name in floors)).map(({ name }) => `${name} has no floor`),
    ...ours.flatMap(({ dependencies, devDependencies, name }) =>
      Object.keys({ ...dependencies, ...devDependencies }).filter((to) => isOurs(to) && breaks(name, to)).map((to) => `${name} depends on ${to}`)),
    ...files.flatMap((file) => {
      const from = folderOf(file.path) === "" ? undefined : ownerOf(manifests, file.path)?.name
      return from === undefined ? [] : file.imports.map(packageOf).filter((to) => isOurs(to) && breaks(from, to)).map((to) => `${file.path} imports ${to}`)
    }),
    ...files.filter(({ path }) => path.startsWith("packages/atomic/src/worker/")).flatMap((file) =>
      file.imports.filter((to) => to.startsWith("@nimlet/") && !["@nimlet/protocol", "@nimlet/protocol/image", "@nimlet/sdk", "@nimlet/tools"].includes(to))
        .map((to) => `${file.path} imports ${to}, which does not belong in a worker`))
  ]
}

/** A package is used by its name, or by another that it exports: no path into it, no relative import out of one. A test may use the root's kit. */
export const inside = (files: ReadonlyArray<ParsedFile>, manifests: ReadonlyArray<Manifest> = []): ReadonlyArray<string> =>
  files.flatMap((file) =>
    file.imports.filter((specifier) => {
      if (specifier.startsWith("@nimlet/")) {
        const name = packageOf(specifier)
        return name !== specifier && manifests.find((one) => one.name === name)?.exports?.[`.${specifier.slice(name.length)}`] === undefined
      }
      if (!isRelative(specifier)) return false
      const to = target(file, specifier)
      return folderOf(to) !== folderOf(file.path) && !(isTest(file.path) && to.startsWith("test/kit/"))
    }).map((specifier) => `${file.path} imports ${specifier}`))

/** Files that import each other in a ring, one ring a sentence. */
export const cycles = (files: ReadonlyArray<ParsedFile>): ReadonlyArray<string> => {
  const edges = new Map(files.map((file) => [file.path, file.imports.filter(isRelative).map((to) => target(file, to))]))
  const found: Array<string> = []
  const done = new Set<string>()
  const walk = (path: string, trail: ReadonlyArray<string>): void => {
    const at = trail.indexOf(path)
    if (at >= 0) found.push([...trail.slice(at), path].join(" -> "))
    if (at >= 0 || done.has(path)) return
    for (const next of edges.get(path) ?? []) walk(next, [...trail, path])
    done.add(path)
  }
  for (const path of edges.keys()) walk(path, [])
  return found
}

/** Files outside tests with more than `cap` lines. */
export const tooLong = (files: ReadonlyArray<Source>, cap = 400): ReadonlyArray<string> =>
  files.filter(({ path }) => !isTest(path)).flatMap(({ path, text }) => {
    const lines = text.trimEnd().split("\n").length
    return lines > cap ? [`${path} has ${lines} lines`] : []
  })

/** Names that say nothing: a file or folder is named for the one thing it holds. */
export const vague = (paths: ReadonlyArray<string>): ReadonlyArray<string> =>
  paths.filter((path) => path.split("/").some((part) => /^(.*[-_.])?(utils?|helpers?|common|shared|managers?|core|base|types|misc|internals?)(\.[a-z]+)*$/i.test(part) || /(Utils?|Helpers?|Manager|Types)\.ts$/.test(part)))
    .map((path) => `${path} has a name that says nothing`)

/** What the host puts before modules that are extensions, nobody installs it. */
const givenToExtensions = "@bastani/atomic"
const isExample = (path: string): boolean => path.includes("/examples/")

/**
 * Imports of packages that the importing package does not declare. Tests, examples and builds may use the root's too; examples
 * that are extensions, what the host gives them.
 */
export const undeclared = (manifests: ReadonlyArray<Manifest>, files: ReadonlyArray<ParsedFile>): ReadonlyArray<string> => {
  const declared = (manifest: Manifest | undefined): ReadonlyArray<string> => Object.keys({ ...manifest?.dependencies, ...manifest?.devDependencies })
  const root = declared(manifests.find(({ folder }) => folder === ""))
  return files.flatMap((file) => {
    const owner = ownerOf(manifests, file.path)
    // A program is built into one bundle: what it is made of need not be installed with it.
    const built = owner?.bin !== undefined
    const known = new Set([...(isProduct(file.path) && !built ? Object.keys(owner?.dependencies ?? {}) : [...declared(owner), ...root]), owner?.name])
    return file.imports.filter((to) => !isRelative(to) && !to.startsWith("node:") && !known.has(packageOf(to)) && !(isExample(file.path) && to === givenToExtensions)).map((to) => `${file.path} imports ${to}`)
  })
}

/** Versions that are not exact, in manifests and in the catalog of `pnpm-workspace.yaml`. */
export const inexact = (manifests: ReadonlyArray<Manifest>, workspace: string): ReadonlyArray<string> => {
  const exact = /^\d+\.\d+\.\d+(-[\w.]+)?$/
  const catalog = /^catalog:\n((?:[ \t]+.*\n|\n)*)/m.exec(workspace)?.[1] ?? ""
  return [
    ...manifests.flatMap(({ dependencies, devDependencies, name }) =>
      Object.entries({ ...dependencies, ...devDependencies })
        .filter(([, version]) => version !== "catalog:" && version !== "workspace:*" && !exact.test(version))
        .map(([to, version]) => `${name}: ${to} ${version}`)),
    ...catalog.split("\n").flatMap((line) => {
      const [, name, version] = /^\s+"?([^":]+)"?:\s*(\S+)/.exec(line) ?? []
      return name === undefined || version === undefined || exact.test(version.replaceAll("\"", "")) ? [] : [`catalog: ${name} ${version}`]
    })
  ]
}

/** The platform is provided by the program alone, and never through the barrel that loads all of it. */
export const platform = (files: ReadonlyArray<ParsedFile>): ReadonlyArray<string> =>
  files.flatMap((file) =>
    file.imports.filter((to) => to === "@effect/platform-node" || (to.startsWith("@effect/platform-node/") && /^packages\/[^/]+\/src\//.test(file.path)))
      .map((to) => `${file.path} imports ${to}`))

/** Types left open outside tests. */
export const loose = (files: ReadonlyArray<ParsedFile>): ReadonlyArray<string> =>
  files.filter(({ path }) => !isTest(path)).flatMap((file) => file.loose.map((found) => `${file.path}: ${found}`))

/** Exports of packages without a docstring. A type and a value of one name share theirs. */
export const undocumented = (files: ReadonlyArray<ParsedFile>): ReadonlyArray<string> =>
  files.filter(({ path }) => /^packages\/[^/]+\/src\//.test(path)).flatMap((file) => file.undocumented.map((name) => `${file.path}: ${name}`))

/** What the program exports and nothing else in the workspace names: it is dead, or need not be exported. A build takes whole files. */
export const unused = (files: ReadonlyArray<ParsedFile>): ReadonlyArray<string> => {
  const named = new Map(files.map((file) => [file, new Set(file.text.match(/[A-Za-z_$][\w$]*/g) ?? [])]))
  const built = (path: string): boolean => files.some((other) => other.path === `${folderOf(path)}/build.ts` && other.text.includes(`"${path.slice(folderOf(path).length + 1)}"`))
  return files.filter(({ path }) => path.startsWith("apps/") && isProduct(path) && !built(path)).flatMap((file) =>
    file.values.filter((name) => !files.some((other) => other !== file && named.get(other)?.has(name))).map((name) => `${file.path}: ${name}`)
  )
}

const allowedAtTop = [
  "packages", "apps", "test", "package.json", "tsconfig.json", "pnpm-workspace.yaml", "vitest.workspace.ts", "bootstrap.mjs",
  "README.md", "AGENTS.md", "LICENSE", ".ci", ".gitignore", "pnpm-lock.yaml"
]
/** What lies at the top that should not, and what should and does not. What git never sees is not looked at. */
export const topLevel = (names: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...names.filter((name) => ![...allowedAtTop, ".git", ".tools", "node_modules"].includes(name)).map((name) => `${name} does not belong at the top`),
  ...allowedAtTop.filter((name) => !names.includes(name)).map((name) => `${name} is missing`)
]
