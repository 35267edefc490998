/**
 * May this call run? Decided on the arguments that will really run, after every hook. Who cannot be asked is the
 * frontend's business: a headless one allows (seed 002).
 */
import { Effect, Option, Semaphore } from "effect"
import type { JsonObject } from "@nimlet/protocol"
import { Frontend } from "@nimlet/extension"
import type { OfferedTool } from "./ToolSet.ts"

/** Remembers what was allowed for the session. */
export interface Permissions {
  /** The reason of the denial, none when the call may run. */
  readonly check: (offered: OfferedTool, args: JsonObject) => Effect.Effect<Option.Option<string>>
}

/** Built-in tools that act inside the workspace, only read, or ask by themselves. */
const unasked = new Set(["read", "grep", "glob", "ls", "edit", "write", "read_skill", "ask_user"])

const commandOf = (args: JsonObject): string | undefined => typeof args["command"] === "string" ? args["command"] : undefined

/** What a remembered answer holds for: one command, else the tool as a whole (seed 000: `tool:<name>`). */
export const grantKey = (tool: string, args: JsonObject): string => {
  const command = tool === "bash" ? commandOf(args) : undefined
  return command === undefined ? `tool:${tool}` : `bash:${command.trim().replaceAll(/\s+/g, " ")}`
}

/** Permissions with nothing remembered yet. Of calls side by side one is asked about at a time: an answer may hold for the next. */
export const makePermissions: Effect.Effect<Permissions> = Effect.gen(function*() {
  const granted = new Set<string>()
  const one = yield* Semaphore.make(1)

  const ask = Effect.fnUntraced(function*({ extension, tool: { name } }: OfferedTool, args: JsonObject) {
    const key = grantKey(name, args)
    if (granted.has(key)) return Option.none<string>()
    const frontend = yield* Frontend
    const approval = yield* frontend.approve({
      tool: name,
      arguments: args,
      summary: commandOf(args) ?? name,
      ...(extension === undefined ? {} : { reason: `tool of extension '${extension}'` }),
      canRemember: true
    })
    if (approval.decision === "deny") return Option.some(approval.reason)
    if (approval.decision !== "once") granted.add(key)
    return Option.none()
  })

  return {
    check: (offered, args) => {
      const runs = offered.extension === undefined ? unasked.has(offered.tool.name) : offered.unasked === true
      return runs ? Effect.succeed(Option.none()) : one.withPermits(1)(ask(offered, args))
    }
  }
})
