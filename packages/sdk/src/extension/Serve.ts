/** An extension at work: registers, answers every request by its id, and gives up what is cancelled. One life. */
import { Effect, FiberMap, Stream } from "effect"
import type { CommandContext, CommandReplyFields, HookName, HookPayload, HookReply, JsonObject, RegisteredMode, RegisteredProvider, ToolReplyFields } from "@nimlet/protocol"
import { type ExtensionContext, type ExtensionPlace, makeContext } from "./ExtensionContext.ts"
import type { ServedTool, ToolOutput } from "./ExtensionTool.ts"
import { type Outcome, runHandler } from "./Handler.ts"
import { type HostLink, type Lines, makeHostLink } from "./HostLink.ts"

/** What a command wants done: a text to print, or more; see `CommandReplyFields` of the protocol. */
export type CommandOutput = string | void | { readonly [F in keyof typeof CommandReplyFields]?: (typeof CommandReplyFields)[F]["Type"] }

/** A slash command. `args` is the text after it, `session` what it was typed in. */
export interface CommandDefinition {
  readonly description?: string
  /** May be run while the model works. */
  readonly whileBusy?: boolean
  readonly run: (args: string, context: ExtensionContext & { readonly session: CommandContext | undefined }) => Outcome<CommandOutput>
}

/** Answers to events: nothing lets them pass; see `HookEvents` of the protocol for payloads and replies. */
export type HookDefinitions = {
  readonly [N in HookName]?: (payload: HookPayload<N>, context: ExtensionContext) => Outcome<HookReply<N> | void>
}

/** An action of a widget that a person pressed; `text` is what a modal's composer held, else empty. */
export interface PressedAction {
  readonly widget: string
  readonly action: string
  readonly text: string
}

/** An extension as it is served. */
export interface ServedExtension {
  readonly name: string
  readonly tools: ReadonlyArray<ServedTool>
  readonly commands: Readonly<Record<string, CommandDefinition>>
  readonly hooks: HookDefinitions
  readonly modes: ReadonlyArray<RegisteredMode>
  readonly providers: ReadonlyArray<RegisteredProvider>
  readonly onAction: ((action: PressedAction, context: ExtensionContext) => Outcome<void>) | undefined
}

type Registering = Pick<ServedExtension, "commands" | "hooks" | "modes" | "providers" | "tools">

/** The `register` line. */
export const registerLine = ({ commands, hooks, modes, providers, tools }: Registering): JsonObject => ({
  type: "register",
  commands: Object.entries(commands).map(([name, { description = "", whileBusy }]) => ({
    name,
    description,
    ...(whileBusy === undefined ? {} : { while_busy: whileBusy })
  })),
  tools: tools.map(({ capabilities, description, extras, name, schema }) => ({ name, description, input_schema: schema, capabilities, extras })),
  events: Object.keys(hooks),
  ...(modes.length === 0 ? {} : { modes }),
  ...(providers.length === 0 ? {} : { providers })
})

type ToolReply = { readonly [F in keyof typeof ToolReplyFields]?: (typeof ToolReplyFields)[F]["Type"] }

const toolReply = (output: ToolOutput): ToolReply => typeof output === "string" ? { content: output } : output
const text = (value: unknown): string => typeof value === "string" ? value : ""
const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value)

const placeOf = ({ entries, mode, session_id, trusted, ui, workspace }: JsonObject): ExtensionPlace => ({
  workspace: text(workspace),
  sessionId: text(session_id),
  trusted: trusted === true,
  mode: text(mode),
  ui: ui === true,
  entries: Array.isArray(entries) ? entries : []
})

type MakeContext = (controller: AbortController) => ExtensionContext

const callTool = (extension: ServedExtension, line: JsonObject, link: HostLink, contextOf: MakeContext): Effect.Effect<JsonObject> => {
  const name = text(line["name"])
  const tool = extension.tools.find((each) => each.name === name)
  if (tool === undefined) return Effect.succeed({ content: `there is no tool ${name}`, is_error: true })
  const controller = new AbortController()
  const id = text(line["id"])
  const context = {
    ...contextOf(controller),
    callId: text(line["tool_call_id"]) || id,
    progress: (content: string) => link.send({ type: "tool_update", id, content })
  }
  return tool.call(line["arguments"], context).pipe(
    Effect.flatMap((run) => runHandler(run, controller)),
    Effect.map(toolReply),
    Effect.catch(({ reason }) => Effect.succeed({ content: reason, is_error: true }))
  )
}

const runCommand = ({ commands }: ServedExtension, line: JsonObject, contextOf: MakeContext): Effect.Effect<JsonObject> => {
  const name = text(line["name"])
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) return Effect.succeed({ error: `there is no command /${name}` })
  const controller = new AbortController()
  // The host wrote it by the schema of the protocol.
  const session = isObject(line["context"]) ? line["context"] as CommandContext : undefined
  return runHandler(() => command.run(text(line["arguments"]), { ...contextOf(controller), session }), controller).pipe(
    Effect.map((output): JsonObject => typeof output === "string" ? { message: output } : output ?? {}),
    Effect.catch(({ reason }) => Effect.succeed({ error: reason }))
  )
}

const answerEvent = ({ hooks }: ServedExtension, line: JsonObject, contextOf: MakeContext): Effect.Effect<JsonObject> => {
  // Names and payloads are those of the host's table, from which the definitions have their types.
  const handler = hooks[text(line["event"]) as HookName] as HookDefinitions["turn_start"]
  if (handler === undefined) return Effect.succeed({})
  const controller = new AbortController()
  return runHandler(() => handler(line["payload"] as HookPayload<"turn_start">, contextOf(controller)), controller).pipe(
    Effect.map((reply) => reply ?? {}),
    Effect.catch(({ reason }) => Effect.succeed({ error: reason }))
  )
}

const pressed = ({ onAction }: ServedExtension, line: JsonObject, contextOf: MakeContext): Effect.Effect<void> => {
  if (onAction === undefined) return Effect.void
  const controller = new AbortController()
  const context = contextOf(controller)
  const action = { widget: text(line["widget"]), action: text(line["action"]), text: text(line["text"]) }
  return Effect.catch(runHandler(() => onAction(action, context), controller), ({ reason }) => context.notify(reason, "error"))
}

/** Serves until the host says `shutdown` or nothing more; what runs then is interrupted. */
export const serveExtension = (extension: ServedExtension, { inbound, send }: Lines): Effect.Effect<void> =>
  Effect.scoped(Effect.gen(function*() {
    const services = yield* Effect.context<never>()
    const runPromise = Effect.runPromiseWith(services)
    const requests = yield* FiberMap.make<string>()
    const link = makeHostLink(send)
    let place = placeOf({})
    const contextOf: MakeContext = (controller) => makeContext(place, link, controller, runPromise)

    const answer = (line: JsonObject): Effect.Effect<JsonObject> | undefined => {
      switch (line["type"]) {
        case "tool":
          return callTool(extension, line, link, contextOf)
        case "command":
          return runCommand(extension, line, contextOf)
        case "event":
          return answerEvent(extension, line, contextOf)
        default:
          return undefined
      }
    }
    const hear = Effect.fnUntraced(function*(line: JsonObject) {
      if (yield* link.answered(line)) return
      const id = text(line["id"])
      switch (line["type"]) {
        case "initialize":
          place = placeOf(line)
          return yield* send(registerLine(extension))
        case "cancel":
          // Its way out may have to be heard by us.
          return yield* Effect.forkScoped(FiberMap.remove(requests, id))
        case "ui_action":
          return yield* Effect.forkScoped(pressed(extension, line, contextOf))
        default: {
          const answering = answer(line)
          if (answering === undefined) return
          yield* FiberMap.run(requests, id, Effect.flatMap(answering, (fields) => send({ type: "response", id, ...fields })))
        }
      }
    })
    yield* inbound.pipe(
      Stream.takeWhile((line) => line["type"] !== "shutdown"),
      Stream.runForEach(hear)
    )
  }))
