/** What extensions of seed 004 may read at once of an agent: look-ups over what is known, made anew only when it has changed. */
import { Option } from "effect"
import type { ExtensionCommand, StateKey } from "@nimlet/extension"
import type { JsonObject } from "@nimlet/protocol"
import type { Conversation } from "./Conversation.ts"
import type { Resources } from "./Resources.ts"
import { type Selection, thinkingOf } from "./Selection.ts"
import { type SystemText, wholeText } from "./SystemPrompt.ts"
import type { OfferedTool, ToolSet } from "./ToolSet.ts"

/** A model that can be chosen, with what is known of it (`contextWindow`, `available`, …). */
export interface KnownModel extends JsonObject {
  readonly provider: string
  readonly id: string
}

/** Where it comes from, each looked at when it is read. */
export interface ModuleStateOptions {
  readonly conversation: () => Conversation
  readonly selection: () => Selection
  readonly resources: () => Resources
  /** What was offered, typed and said when it was last looked up. */
  readonly offered: () => Offered
  /** Flags of extensions that stood on the command line. */
  readonly flags: () => JsonObject
}

/** What only an effect can find out; `refresh` of whoever made it does. */
export interface Offered {
  readonly tools: ToolSet | undefined
  /** All tools, those that are switched off, too, as they were at that moment. */
  readonly known: () => ReadonlyArray<OfferedTool>
  readonly commands: ReadonlyArray<ExtensionCommand>
  readonly models: ReadonlyArray<KnownModel>
  readonly system: SystemText | undefined
}

/** A value that is made of others and stays the same while they do. */
const derived = <A>(sources: () => ReadonlyArray<unknown>, make: () => A): () => A => {
  let known: { readonly from: ReadonlyArray<unknown>; readonly value: A } | undefined
  return () => {
    const from = sources()
    if (known === undefined || from.some((each, at) => each !== known?.from[at])) known = { from, value: make() }
    return known.value
  }
}

const modelOf = (models: ReadonlyArray<KnownModel>, provider: string, model: string, contextWindow: number | undefined): JsonObject => {
  const known = models.find((each) => each.provider === provider && each.id === model)
  return { name: model, ...known, id: model, provider, ...(contextWindow === undefined ? {} : { contextWindow }) }
}

const toolOf = ({ extension, guidelines, tool }: OfferedTool): JsonObject => ({
  name: tool.name,
  description: tool.description,
  parameters: tool.inputSchema,
  ...(guidelines === undefined ? {} : { promptGuidelines: guidelines }),
  sourceInfo: { source: extension === undefined ? "builtin" : "extension", ...(extension === undefined ? {} : { extension }) }
})

const commandsOf = (commands: ReadonlyArray<ExtensionCommand>, { skills, templates }: Resources): ReadonlyArray<JsonObject> => [
  ...commands.map(({ description, extension, name }) => ({ name, description, source: "extension", sourceInfo: { path: extension, source: extension } })),
  ...templates.map(({ description, name }) => ({ name, description, source: "prompt", sourceInfo: { path: name, source: "prompt" } })),
  ...skills.map(({ description, file, name }) => ({ name: `skill:${name}`, description, source: "skill", sourceInfo: { path: file, source: "skill" } }))
]

/** The look-up; undefined for what is not known here. */
export const makeModuleState = (options: ModuleStateOptions): (key: StateKey) => unknown => {
  const models = () => options.offered().models
  const { conversation, flags, offered, resources, selection } = options
  const history = () => conversation().history
  const sessionOf = (): JsonObject => {
    const { id, path, workspace } = conversation().session
    const file = Option.getOrUndefined(path)
    return { id, name: history().title, cwd: workspace, ...(file === undefined ? {} : { file, dir: file.replace(/[/\\][^/\\]*$/, "") }) }
  }
  const usageOf = (): JsonObject => {
    const { tokens, window } = conversation().usage()
    return { tokens, contextWindow: window, percent: Math.round(tokens / window * 100) }
  }
  const model = (): JsonObject | undefined => {
    const chosen = selection()
    return chosen.model === "" ? undefined : modelOf(models(), chosen.provider, chosen.model, chosen.contextWindow)
  }
  const nothing: ReadonlyArray<never> = []
  const known: Readonly<Record<string, () => unknown>> = {
    session: derived(() => [conversation().session, history().title], sessionOf),
    entries: () => history().projected,
    labels: derived(() => [history().projected], () => history().labels),
    model: derived(() => [models(), selection()], model),
    models,
    scoped_models: () => nothing,
    thinking: () => thinkingOf(selection()).level ?? "",
    usage: derived(() => [history().entries.length, conversation(), offered().tools], usageOf),
    tools: derived(() => [offered().tools], () => offered().known().map(toolOf)),
    active_tools: derived(() => [offered().tools], () => (offered().tools?.tools ?? []).map(({ tool }) => tool.name)),
    commands: derived(() => [offered().commands, resources()], () => commandsOf(offered().commands, resources())),
    skills: derived(() => [resources()], () => resources().skills.map(({ description, file, name }) => ({ name, description, path: file }))),
    flags,
    system_prompt: derived(() => [offered().system], () => {
      const { system } = offered()
      return system === undefined ? "" : wholeText(system)
    }),
    prompt_options: derived(() => [conversation()], () => ({ cwd: conversation().session.workspace })),
    idle: () => !conversation().queues.isLive(),
    pending: () => conversation().queues.depth() > 0
  }
  return (key) => Object.hasOwn(known, key) ? known[key]?.() : undefined
}
