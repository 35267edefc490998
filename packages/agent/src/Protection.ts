/** The protected file that a call would change, so that a person says yes to it first. */
import { Effect, Option } from "effect"
import type { JsonObject } from "@nimlet/protocol"
import { pathsIn } from "./Shell/Paths.ts"
import type { OfferedTool } from "./ToolSet.ts"

/** Tells files that decide what runs later from all others. */
export interface ProtectedFiles {
  /** How to name to a person the protected file that a path of the model's means, or, where `whole`, that a tree put there holds; none for any other file. */
  readonly protectedPath?: (path: string, whole?: boolean) => Effect.Effect<Option.Option<string>>
  /** Whether a path as a shell would be given it, wildcards and all, may mean such a file. */
  readonly mayBeProtected?: (word: string, whole?: boolean) => boolean
}

/** Such a file, as it is named to a person; `sure` where the call changes it, else it may. */
export interface ProtectedFile {
  readonly name: string
  readonly sure: boolean
}

/** Built-in tools that act inside the workspace and can be undone there; those that only read are never asked about. */
export const acting: ReadonlySet<string> = new Set(["edit", "write"])

/** The shell's grammar, loaded with the first command. */
export const loadGrammar = Effect.promise(() => import("./Shell/Grammar.ts"))

/** So many words of a command are looked up on the disk. */
const mostLookedUp = 64

/** Looks at a call. */
export type Protection = (offered: OfferedTool, args: JsonObject) => Effect.Effect<ProtectedFile | undefined>

/** Finds what a call would change of them. An extension's tool says nothing of its files. */
export const makeProtection = ({ mayBeProtected = () => false, protectedPath = () => Effect.succeedNone }: ProtectedFiles): Protection => {
  const first = Effect.fnUntraced(function*(words: ReadonlySet<string>, whole: boolean) {
    for (const word of words) if (mayBeProtected(word, whole)) return word
    // A link has a name that says nothing.
    for (const word of [...words].slice(0, mostLookedUp)) {
      const found = yield* protectedPath(word, whole)
      if (Option.isSome(found)) return found.value
    }
    return undefined
  })

  const ofCommand = Effect.fnUntraced(function*(command: string): Effect.fn.Return<ProtectedFile | undefined> {
    const { named, placed, written } = pathsIn(yield* loadGrammar, command)
    const changed = (yield* first(written, false)) ?? (yield* first(placed, true))
    if (changed !== undefined) return { name: changed, sure: true }
    const name = yield* first(named, true)
    return name === undefined ? undefined : { name, sure: false }
  })

  return ({ extension, tool }, args) => {
    const { command, path } = args
    if (extension !== undefined) return Effect.undefined
    if (tool.name === "bash" && typeof command === "string") return ofCommand(command)
    if (!acting.has(tool.name) || typeof path !== "string") return Effect.undefined
    return Effect.map(protectedPath(path), (found) => Option.isSome(found) ? { name: found.value, sure: true } : undefined)
  }
}
