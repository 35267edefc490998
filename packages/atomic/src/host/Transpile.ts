/**
 * TypeScript → JavaScript for workers, so that none of them loads a compiler. Each text is turned once: by its hash, in memory
 * and on disk. Synchronous, because a worker waits for it in the middle of an import.
 */
// An import of a worker blocks it; the answer must not depend on fibers being scheduled.
import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { basename, dirname, join } from "node:path"
import nodeProcess from "node:process"
import { withoutTypeExports } from "./TypeExports.ts"
import { withoutUnusedImports } from "./UnusedImports.ts"

/** A module as the worker loads it. */
export interface Loaded {
  readonly source: string
  readonly format: "module" | "commonjs"
}

/** Changes when the way of turning texts does. */
const generation = "2"

/** Node says once a process that stripping is experimental; that is for whoever calls it. */
const quietly = <A>(act: () => A): A => {
  const { emitWarning } = nodeProcess
  nodeProcess.emitWarning = () => undefined
  try {
    return act()
  } finally {
    nodeProcess.emitWarning = emitWarning
  }
}

/** The error with the line that Node tells in its stack alone. */
const placed = (error: unknown, file: string): unknown => {
  const line = error instanceof Error ? /^.*:(\d+)\n/.exec(error.stack ?? "")?.[1] : undefined
  return error instanceof Error && line !== undefined ? new SyntaxError(`${error.message} (${basename(file)}:${line})`) : error
}

const strip = (code: string, file: string): string =>
  quietly(() => {
    try {
      return stripTypeScriptTypes(code, { mode: "strip" })
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX")) throw placed(error, file)
      // Enums, namespaces and parameter properties are code, not types.
      return stripTypeScriptTypes(code, { mode: "transform", sourceMap: true, sourceUrl: file })
    }
  })

/** Whether a text uses module syntax; what does not is CommonJS. */
const isModule = (code: string): boolean => /^\s*(?:import|export)\b|\bimport\.meta\b|^\s*await\b/m.test(code)

/** What is kept, without what it exports of other files only as a type: that is theirs to say, and they may change. */
const valuesOf = (loaded: Loaded, file: string): Loaded => {
  const source = withoutTypeExports(loaded.source, file)
  return source === loaded.source ? loaded : { ...loaded, source: withoutUnusedImports(source) }
}

/** Texts turned so far. */
export class Transpiler {
  readonly #folder: string
  readonly #known = new Map<string, { readonly stamp: string; readonly loaded: Loaded }>()

  /** `folder` holds results between runs; it is made when first needed, and if it cannot be, nothing is kept. */
  constructor(folder: string) {
    this.#folder = folder
  }

  /** The module in `file` as JavaScript; throws when there is no such file or it is no TypeScript. */
  load(file: string): Loaded {
    const { mtimeMs, size } = statSync(file)
    const stamp = `${mtimeMs} ${size}`
    const known = this.#known.get(file)
    // A file that changes within the clock's step keeps its stamp; its text is read again unless that is long past.
    if (known?.stamp === stamp && Date.now() - mtimeMs > 2_000) return valuesOf(known.loaded, file)
    const code = readFileSync(file, "utf8")
    const format = file.endsWith(".cts") ? "commonjs" : file.endsWith(".mts") || isModule(code) ? "module" : "commonjs"
    const loaded: Loaded = { source: this.#turned(code, file), format }
    this.#known.set(file, { stamp, loaded })
    return valuesOf(loaded, file)
  }

  #turned(code: string, file: string): string {
    const hash = createHash("sha256").update(`${generation} ${nodeProcess.version}\n`).update(code).digest("hex")
    const kept = join(this.#folder, `${hash}.js`)
    try {
      return readFileSync(kept, "utf8")
    } catch {
      const source = withoutUnusedImports(strip(code, file))
      this.#keep(kept, source)
      return source
    }
  }

  #keep(kept: string, source: string): void {
    try {
      mkdirSync(dirname(kept), { recursive: true, mode: 0o700 })
      const draft = `${kept}.${nodeProcess.pid}`
      writeFileSync(draft, source, { mode: 0o600 })
      renameSync(draft, kept)
    } catch {
      // A cache that cannot be written costs time, nothing else.
    }
  }
}
