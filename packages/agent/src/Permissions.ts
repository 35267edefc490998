/**
 * May this call run? Decided on the arguments that will really run, after every hook. Who cannot be asked is the
 * frontend's business: a headless one allows (seed 002), but for files that would change what runs later.
 */
import { Effect, Option, Semaphore } from "effect"
import type { JsonObject } from "@nimlet/protocol"
import { type ApprovalRequest, Frontend } from "@nimlet/extension"
import { changePreview } from "./ChangePreview.ts"
import type { FileUnwritable } from "./PrivateFile.ts"
import { acting, loadGrammar, makeProtection, type ProtectedFiles } from "./Protection.ts"
import { grantKeys, isRememberable } from "./Shell/Command.ts"
import { isReadOnly, type OfferedTool } from "./ToolSet.ts"

/** Remembers what was allowed for the session. */
export interface Permissions {
  /** The reason of the denial, none when the call may run. */
  readonly check: (offered: OfferedTool, args: JsonObject) => Effect.Effect<Option.Option<string>>
  /** What is remembered, sorted. */
  readonly remembered: Effect.Effect<ReadonlyArray<string>>
  /** Forgets what was allowed in this session; what was allowed in the project stays. */
  readonly clear: Effect.Effect<void>
}

/** What was allowed in the project, for every session. */
export interface ProjectGrants {
  readonly allowed: Effect.Effect<ReadonlyArray<string>>
  /** Undefined where the project is not trusted, and nothing can be remembered in it. */
  readonly remember: Effect.Effect<((keys: ReadonlyArray<string>) => Effect.Effect<void, FileUnwritable>) | undefined>
}

/** What permissions depend on. */
export interface PermissionOptions extends ProtectedFiles {
  readonly grants?: ProjectGrants
  /** Nothing is asked but about protected files. */
  readonly unasked?: () => boolean
}

/** Why a protected file is one. */
const why = "it can change what runs later"

const textOf = (args: JsonObject, key: string): string | undefined => {
  const value = args[key]
  return typeof value === "string" ? value : undefined
}

/** What a remembered answer holds for: the simple commands of a command, else the tool as a whole (seed 000: `tool:<name>`). */
const keysOf = Effect.fnUntraced(function*(tool: string, args: JsonObject) {
  const command = tool === "bash" ? textOf(args, "command") : undefined
  if (command === undefined) return { keys: [`tool:${tool}`], canRemember: true }
  const { parse } = yield* loadGrammar
  return { keys: grantKeys(parse, command), canRemember: isRememberable(command) }
})

/** Permissions of a session, with nothing remembered in it yet. */
export const makePermissions = Effect.fnUntraced(function*(options: PermissionOptions = {}): Effect.fn.Return<Permissions> {
  const { grants, unasked = () => false } = options
  const protection = makeProtection(options)
  const granted = new Set<string>()
  // One question after another: the answer to the first may answer the next.
  const turn = yield* Semaphore.make(1)

  const ask = Effect.fnUntraced(function*(request: ApprovalRequest, keys: ReadonlyArray<string>) {
    const { approve, notify } = yield* Frontend
    const approval = yield* approve(request)
    if (approval.decision === "deny") return Option.some(approval.reason)
    if (approval.decision === "once" || !request.canRemember) return Option.none<string>()
    for (const key of keys) granted.add(key)
    const remember = approval.decision === "project" ? yield* grants?.remember ?? Effect.undefined : undefined
    if (approval.decision === "project") {
      yield* remember === undefined
        ? notify("warning", "Allowed for this session only: this project is not trusted.")
        : Effect.catch(remember(keys), (error) => notify("warning", `Allowed for this session only: ${error.message}`))
    }
    return Option.none<string>()
  })

  const reasonFor = ({ extension }: OfferedTool) => extension === undefined ? {} : { reason: `tool of extension '${extension}'` }

  const check = Effect.fnUntraced(function*(offered: OfferedTool, args: JsonObject) {
    const { name } = offered.tool
    const { interactive } = yield* Frontend
    const summary = textOf(args, "command") ?? name
    const file = yield* protection(offered, args)
    if (file !== undefined) {
      if (!interactive) return Option.some(`${file.name} is protected: ${file.sure ? "changing it" : "a command that may change it"} needs a person's yes, and nobody can be asked here`)
      const about = acting.has(name)
        ? { summary: file.name, reason: `a protected file: ${why}`, preview: changePreview(name, args) }
        : { summary, reason: `it ${file.sure ? "changes" : "may change"} ${file.name}, a protected file: ${why}` }
      return yield* ask({ tool: name, arguments: args, ...about, canRemember: false }, [])
    }
    if (acting.has(name) || unasked()) return Option.none<string>()
    if (!interactive) return yield* ask({ tool: name, arguments: args, summary, ...reasonFor(offered), canRemember: false }, [])
    const { canRemember, keys } = yield* keysOf(name, args)
    const known = new Set([...granted, ...yield* grants?.allowed ?? Effect.succeed([])])
    if (canRemember && keys.every((key) => known.has(key))) return Option.none<string>()
    const canStay = canRemember && (yield* grants?.remember ?? Effect.undefined) !== undefined
    return yield* ask({ tool: name, arguments: args, summary, ...reasonFor(offered), canRemember, ...(canStay ? { project: true } : {}) }, keys)
  })

  return {
    check: (offered, args) => isFree(offered) ? Effect.succeedNone : turn.withPermits(1)(check(offered, args)),
    remembered: Effect.map(grants?.allowed ?? Effect.succeed([]), (allowed) => [...new Set([...granted, ...allowed])].toSorted()),
    clear: Effect.sync(() => granted.clear())
  }
})

/** Never asked about, whatever its arguments are. */
const isFree = ({ extension, tool, unasked }: OfferedTool): boolean =>
  unasked ?? (extension === undefined && isReadOnly(tool))
