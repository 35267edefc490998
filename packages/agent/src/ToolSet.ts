/**
 * The tools of one step: what the model is offered and what a call is looked up in. Frozen for the step, so that an
 * extension coming or going never changes a request in flight.
 */
import { type Effect, Option } from "effect"
import * as AiTool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import type { CallFailed } from "@nimlet/extension"
import type { ConstrainedSampling, JsonObject } from "@nimlet/protocol"
import { withSampling } from "@nimlet/provider"
import type { Tool } from "@nimlet/tools"

/** A tool and who brings it: `extension` names the extension, absent for a built-in. */
export interface OfferedTool {
  readonly tool: Tool
  readonly extension?: string
  /** Whether it runs without the question that comes with a tool's first call; absent for a built-in, which has its own rule. */
  readonly unasked?: boolean
  /** Why it is not offered here, for a model that calls it all the same. */
  readonly unavailable?: string
  /** One line about it for the system prompt, and what the model should heed while it is offered. */
  readonly snippet?: string
  readonly guidelines?: ReadonlyArray<string>
  /** What is validated in place of what the model sent (seed 004, `prepareArguments`). */
  readonly prepare?: (args: unknown) => Effect.Effect<unknown, CallFailed>
  /** Whether it may run beside its neighbours; absent: when it only reads. */
  readonly parallel?: boolean
  /** Its result, when it ends the run, is the run's answer. */
  readonly answers?: boolean
}

/** Names of built-in tools, present and to come; no extension may take one. */
export const reservedToolNames: ReadonlyArray<string> =
  ["read", "grep", "glob", "ls", "edit", "write", "bash", "git", "read_skill", "ask_user", "skill"]

/** Whether extensions hear of its calls: of all but the built-in question to the user (seed 000, "When hooks do not run"). */
export const isHooked = ({ extension, tool }: OfferedTool): boolean => extension !== undefined || tool.name !== "ask_user"

/** The tools of a step, in the order the model sees them. */
export interface ToolSet {
  readonly tools: ReadonlyArray<OfferedTool>
  /** All there are, those that are not offered just now, too. */
  readonly known: ReadonlyArray<OfferedTool>
  /** The tool of this exact name. */
  readonly find: (name: string) => Option.Option<OfferedTool>
  /** What the model reads when it calls one that is not there. */
  readonly whyNot: (name: string) => string
  /** The same tools as `effect/ai` offers them to a model; nothing runs inside the model. */
  readonly toolkit: Toolkit.Toolkit<{ readonly [name: string]: ModelTool }>
}

const modelTool = (name: string, description: string, parameters: JsonObject, sampling: ConstrainedSampling | undefined) =>
  withSampling(AiTool.dynamic(name, { description, parameters }), sampling)

/** A tool as a model provider is told of it. */
export type ModelTool = ReturnType<typeof modelTool>

/** What of the tools is kept. */
export interface ToolChoice {
  /** The named ones, in any case; absent for all. */
  readonly only?: ReadonlyArray<string>
  /** Those that are offered just now; absent for all. */
  readonly offers?: (offered: OfferedTool) => boolean
  /** What is said of one that is not. */
  readonly withheld?: string
}

/** Freezes tools into a set. A later tool takes the place of an earlier one of its name (seed 000: the last one loaded wins). */
export const toolSet = (tools: ReadonlyArray<OfferedTool>, { offers = () => true, only, withheld = "" }: ToolChoice = {}): ToolSet => {
  const wanted = only === undefined ? undefined : new Set(only.map((name) => name.toLowerCase()))
  const byName = new Map<string, OfferedTool>()
  for (const offered of tools) {
    if (wanted === undefined || wanted.has(offered.tool.name.toLowerCase())) byName.set(offered.tool.name, offered)
  }
  const kept = [...byName.values()].filter((offered) => offered.unavailable === undefined && offers(offered))
  const found = new Map(kept.map((offered) => [offered.tool.name, offered]))
  return {
    tools: kept,
    known: [...byName.values()],
    find: (name) => Option.fromNullishOr(found.get(name)),
    whyNot: (name) => {
      const known = byName.get(name)
      return known === undefined ? `Unknown tool: ${name}` : known.unavailable ?? withheld
    },
    toolkit: Toolkit.make(...kept.map(({ tool }) => modelTool(tool.name, tool.description, tool.inputSchema, tool.constrainedSampling)))
  }
}

/** A tool that changes nothing: its capabilities are read, or read and user. */
export const isReadOnly = (tool: Pick<Tool, "capabilities">): boolean =>
  tool.capabilities.length > 0 && tool.capabilities.every((capability) => capability === "read" || capability === "user")

/** Whether calls of it may run beside their neighbours. */
export const isParallel = ({ parallel, tool }: OfferedTool): boolean => parallel ?? isReadOnly(tool)
