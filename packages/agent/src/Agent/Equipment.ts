/** What an agent works with beside a model: instructions, skills, templates and tools, as they are found, and what is offered of them. */
import { Effect, Option } from "effect"
import type { Extensions } from "@nimlet/extension"
import type { ActiveTools } from "../ActiveTools.ts"
import type { ModeChoice } from "../ModeChoice.ts"
import type { Offered } from "../ModuleState.ts"
import { makeOffering } from "../Offering.ts"
import { noResources, type ResourcePaths, type Resources } from "../Resources.ts"
import { withScopedContext } from "../ScopedRead.ts"
import type { PromptTool, SystemText } from "../SystemPrompt.ts"
import type { OfferedTool, ToolSet } from "../ToolSet.ts"
import type { AgentOptions } from "./AgentOptions.ts"

/** What it comes from. */
export interface EquipmentOptions extends Pick<AgentOptions, "appended" | "files" | "models" | "only" | "questions" | "system" | "tools"> {
  readonly find: AgentOptions["resources"]
  readonly active: ActiveTools
  readonly extensions: Extensions["Service"]
  readonly modes: ModeChoice
}

/** What an agent works with at the moment. */
export interface Equipment {
  /** Looks for resources anew; gives warnings to tell. */
  readonly load: (more?: ResourcePaths) => Effect.Effect<ReadonlyArray<string>>
  readonly resources: () => Resources
  /** The tools of the next step. */
  readonly tools: Effect.Effect<ToolSet>
  /** All tools there are, whether they are offered or not. */
  readonly known: () => ReadonlyArray<OfferedTool>
  /** The system text of the next run. */
  readonly system: Effect.Effect<SystemText>
  /** What extensions may read at once, as it was when it was last looked up. */
  readonly offered: () => Offered
  /** Looks it up, ahead of them; models only once there is one that reads of them. */
  readonly lookUp: Effect.Effect<void>
  readonly modulesJoined: () => void
}

const noQuestions = "User questions are unavailable in this interface."

const promptTool = ({ extension, guidelines, snippet, tool, unasked }: OfferedTool): PromptTool => ({
  name: tool.name,
  custom: extension !== undefined || unasked !== undefined,
  ...(snippet === undefined ? {} : { snippet }),
  ...(guidelines === undefined ? {} : { guidelines })
})

/** Nothing is found until `load` has run. */
export const makeEquipment = ({ active, appended = [], extensions, files, find, models, modes, only, questions, system: base, tools: given }: EquipmentOptions): Equipment => {
  const builtins = given.map((tool): OfferedTool => tool.name === "ask_user" && questions === false ? { tool, unavailable: noQuestions } : { tool })
  let resources = noResources
  let own: ReadonlyArray<OfferedTool> = builtins
  const offering = makeOffering({ extensions, own: () => own, mode: modes.active, active, ...(files === undefined ? {} : { files }), ...(only === undefined ? {} : { only }) })
  let offered: Offered = { known: offering.known, tools: undefined, commands: [], models: [], system: undefined }
  let hasModules = false
  const tools = Effect.tap(offering.tools, (set) => {
    if (offered.tools !== set) offered = { ...offered, tools: set }
    return Effect.void
  })
  const system = Effect.map(tools, (set): SystemText => ({
    base: Option.getOrElse(resources.system, () => typeof base === "string" ? base : base(set.tools.map(promptTool))),
    appended: [...resources.appended, ...appended, modes.active().prompt]
  }))
  return {
    load: (more) =>
      Effect.map(find?.(more) ?? Effect.succeed(noResources), (found) => {
        resources = found
        const scoped = builtins.map((one) => ({ ...one, tool: withScopedContext(one.tool, found.scoped) }))
        own = [...scoped, ...found.builtins.map((tool) => ({ tool })), ...found.tools.map((tool) => ({ tool, unasked: false }))]
        return found.warnings
      }),
    resources: () => resources,
    tools,
    known: offering.known,
    system,
    offered: () => offered,
    lookUp: Effect.suspend(() => Effect.all([system, extensions.commands, (hasModules ? models : undefined) ?? Effect.succeed(offered.models)])).pipe(
      Effect.map(([text, commands, all]) => void (offered = { ...offered, system: text, commands, models: all }))
    ),
    modulesJoined: () => void (hasModules = true)
  }
}
