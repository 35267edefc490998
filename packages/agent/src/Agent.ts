/**
 * The agent of one session: it takes what the user says, in words or as a slash command, and runs it. It knows no
 * terminal: events go to `EventSink`, questions to `Frontend`, and the model is whatever `LanguageModel` is provided.
 */
import { Context, Effect, Layer, type Scope } from "effect"
import * as LanguageModel from "effect/ai/LanguageModel"
import { Extensions, type ExtensionTool, Hooks } from "@nimlet/extension"
import type { RunPlace, TextPart } from "@nimlet/protocol"
import { Offline } from "@nimlet/provider"
import type { Session } from "@nimlet/session"
import { errorResult, type Tool } from "@nimlet/tools"
import { EventSink } from "./EventSink.ts"
import { makeLoop, type RunResult } from "./Loop.ts"
import { makePermissions } from "./Permissions.ts"
import { makeToolRunner } from "./ToolRunner.ts"
import { type OfferedTool, toolSet, type ToolSet } from "./ToolSet.ts"

/** What the user said: `typed` by hand, `piped` from another program or a file. Only typed words can be a command. */
export interface UserInput {
  readonly typed: string
  readonly piped?: string
}

/** What an agent is made of. */
export interface AgentOptions {
  readonly session: Session
  readonly provider: string
  readonly model: string
  readonly system: string
  /** The built-in tools, in the order the model sees them. */
  readonly tools: ReadonlyArray<Tool>
  /** The only tools to offer, by name in any case; absent for all. */
  readonly only?: ReadonlyArray<string>
}

const slashCommand = /^\/([^\s/]+)(?:\s+([\s\S]*))?$/

const runnable = (extensions: Extensions["Service"], { capabilities, description, extension, inputSchema, name, unasked }: ExtensionTool): OfferedTool => ({
  extension,
  unasked,
  tool: {
    name,
    description,
    inputSchema,
    capabilities,
    run: (args, context) =>
      extensions.callTool(name, args, context.output).pipe(
        Effect.catch((error) => Effect.succeed(errorResult(error.message)))
      )
  }
})

const isSame = (some: ReadonlyArray<ExtensionTool>, others: ReadonlyArray<ExtensionTool>): boolean =>
  some.length === others.length &&
  some.every((tool, index) =>
    tool.name === others[index]?.name && tool.extension === others[index].extension && tool.inputSchema === others[index].inputSchema)

/** The agent of a session. */
export class Agent extends Context.Service<Agent, {
  /** Runs one input to its end. Interrupting it is the user's interrupt: calls are cancelled, the session stays whole. */
  readonly prompt: (input: UserInput) => Effect.Effect<RunResult>
  /** Names of the tools the model is offered now. */
  readonly toolNames: Effect.Effect<ReadonlyArray<string>>
}>()("@nimlet/agent/Agent") {
  /**
   * An agent over a session. Extensions are told of its start and, when the scope closes, of its end (seed 000,
   * `session_start` and `session_end`).
   */
  static readonly layer = (
    options: AgentOptions
  ): Layer.Layer<Agent, never, Extensions | Hooks | LanguageModel.LanguageModel> => Layer.effect(Agent, makeAgent(options))
}

/** How long leaving waits for extensions to have seen the session's end. */
const farewell = "2 seconds"

const makeAgent = Effect.fnUntraced(function*(
  options: AgentOptions
): Effect.fn.Return<Agent["Service"], never, Extensions | Hooks | LanguageModel.LanguageModel | Scope.Scope> {
  const { session } = options
  const hooks = yield* Hooks
  const extensions = yield* Extensions
  const languageModel = yield* LanguageModel.LanguageModel
  const builtins = options.tools.map((tool): OfferedTool => ({ tool }))

  // Frozen anew only when an extension came, went or registered anew: providers remember what they said of a tool.
  let offered: ReadonlyArray<ExtensionTool> = []
  let current: ToolSet = toolSet(builtins, options.only)
  const tools = Effect.map(extensions.tools, (registered) => {
    if (!isSame(registered, offered)) {
      offered = registered
      current = toolSet([...builtins, ...registered.map((tool) => runnable(extensions, tool))], options.only)
    }
    return current
  })

  const runner = yield* makeToolRunner(yield* makePermissions)
  const loop = yield* makeLoop({ ...options, runner, tools })
  const about = { session_id: session.id, workspace: session.workspace }

  const say = (typed: string, piped = "") => {
    const content: ReadonlyArray<TextPart> = [
      { type: "text", text: piped, provider_data: Offline.typed(false) },
      { type: "text", text: typed }
    ]
    return loop(content.filter((part) => part.text !== "")).pipe(Effect.provideService(LanguageModel.LanguageModel, languageModel))
  }

  /** A command is a run of its own without a model; what it wants said to the model is the run after it. */
  const command = Effect.fnUntraced(function*(typed: string, name: string, args: string) {
    const { publish } = yield* EventSink
    const turn_id = `${session.id}:turn:${(yield* session.entries).length}`
    const place: RunPlace = { session_id: session.id, turn_id, run_id: turn_id }
    const message = { type: "message", session_id: session.id, turn_id } as const
    yield* publish({ ...message, role: "user", content: typed })
    yield* publish({ type: "run_start", ...place, prompt: typed })
    const failed = (text: string) =>
      Effect.as(publish({ type: "error", ...place, step: -1, message: text }), { success: false, text: "", next: undefined })
    const known = yield* extensions.commands
    const outcome = yield* Effect.suspend(() =>
      known.some((one) => one.name.toLowerCase() === name.toLowerCase())
        ? extensions.runCommand(name, args).pipe(
          Effect.tap((reply) =>
            reply.message === undefined ? Effect.void : publish({ ...message, role: "assistant", content: reply.message, final: true })
          ),
          Effect.map((reply) => ({ success: true, text: reply.message ?? "", next: reply.prompt })),
          Effect.catch((error) => failed(`Extension command failed: ${error.message}`))
        )
        : failed(`Unknown command '/${name}'. ${known.length === 0 ? "No extension offers one." : `There are: ${known.map((one) => `/${one.name}`).join(", ")}.`}`)
    ).pipe(Effect.ensuring(publish({ type: "run_end", ...place })))
    return outcome.next === undefined || outcome.next === "" ? outcome : yield* say(outcome.next)
  })

  const prompt = (input: UserInput): Effect.Effect<RunResult> => {
    const [, name, args] = (input.piped ?? "") === "" ? slashCommand.exec(input.typed) ?? [] : []
    return name === undefined ? say(input.typed, input.piped) : command(input.typed, name, args ?? "")
  }

  yield* hooks.run("session_start", { ...about, provider: options.provider, model: options.model, thinking: "" })
  yield* Effect.addFinalizer(() => hooks.run("session_end", about).pipe(Effect.timeoutOption(farewell)))

  return {
    prompt,
    toolNames: Effect.map(tools, (set) => set.tools.map(({ tool }) => tool.name))
  }
})
