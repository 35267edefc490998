/** Ways of working: which tools are offered, what the model is told, whether calls are asked about. Pure. */
import { Schema } from "effect"
import type { RegisteredMode } from "@nimlet/protocol"
import { isReadOnly, type OfferedTool } from "./ToolSet.ts"

/** A way of working. `planning`: nothing is changed, and families that are silent then hear nothing. */
export interface Mode extends RegisteredMode {
  readonly planning?: boolean
}

/** No such way of working; `known` are those there are. */
export class ModeUnknown extends Schema.TaggedError<ModeUnknown>()("ModeUnknown", { id: Schema.String, known: Schema.Array(Schema.String) }) {
  override get message(): string {
    return `there is no mode '${this.id}'; there are ${this.known.join(", ")}`
  }
}

/** The way every agent begins in. */
export const actMode: Mode = { id: "act", label: "act", prompt: "", permissions: "ask", tools: [] }

/** Looking around and planning. */
export const planMode: Mode = {
  id: "plan",
  label: "plan",
  prompt: "You are in plan mode: change nothing. Look around with the tools you have, then give the user a plan. They switch to act mode to have it carried out.",
  permissions: "read_only",
  tools: [],
  planning: true
}

/** All there are: ours, then those of extensions. */
export const modesWith = (offered: ReadonlyArray<RegisteredMode>): ReadonlyArray<Mode> => [actMode, planMode, ...offered]

/** The one of that id, in any case. */
export const modeNamed = (modes: ReadonlyArray<Mode>, id: string): Mode | undefined =>
  modes.find((mode) => mode.id === id) ?? modes.find((mode) => mode.id.toLowerCase() === id.toLowerCase())

/** Whether a tool is offered in a mode. A mode that names no tools offers all. */
export const offersTool = ({ permissions, tools }: Mode, { tool }: OfferedTool): boolean =>
  (tools.length === 0 || tools.includes(tool.name)) && (permissions !== "read_only" || isReadOnly(tool))

/** What the model reads of a tool that a mode withholds. */
export const withheldText = ({ id, label }: Mode): string =>
  id === planMode.id
    ? "Tool unavailable in plan mode. The user must switch to /act to enable implementation tools."
    : `Tool unavailable in mode ${label}.`
