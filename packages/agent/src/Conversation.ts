/** All that belongs to one open session: its runs, its queues, what was granted in it, what its extensions stored and may ask. */
import { Effect } from "effect"
import * as LanguageModel from "effect/ai/LanguageModel"
import { type EntrySink, Hooks, type SessionAccessShape } from "@nimlet/extension"
import type { ContentPart } from "@nimlet/protocol"
import { ProviderHooks } from "@nimlet/provider"
import type { Session, Snapshots } from "@nimlet/session"
import type { Tool } from "@nimlet/tools"
import { type Compacted, type Compaction, type CompactionOptions, makeCompaction } from "./Compaction.ts"
import { complete } from "./Completion.ts"
import { type Farewell, makeFarewell } from "./Farewell.ts"
import { History } from "./History.ts"
import { type Ledger, makeLedger } from "./Ledger.ts"
import { type LoopOptions, makeLoop, type Origin, type RunResult } from "./Loop.ts"
import { makeModuleEvents, observed } from "./ModuleEvents.ts"
import { makePermissions, type PermissionOptions, type Permissions } from "./Permissions.ts"
import { providerEvents } from "./ProviderEvents.ts"
import { makeQueues, type QueueModes, type Queues } from "./Queues.ts"
import { aboutSelection, aboutSession, type Selection } from "./Selection.ts"
import { sessionRequests, type SessionRequestsOptions } from "./SessionRequests.ts"
import { type SystemText, wholeText } from "./SystemPrompt.ts"
import { makeToolRunner } from "./ToolRunner.ts"
import type { ToolSet } from "./ToolSet.ts"

/** What every conversation of an agent is made of. */
export interface ConversationOptions extends Pick<CompactionOptions, "compaction">, Pick<SessionRequestsOptions, "onIdleText"> {
  readonly selection: () => Selection
  /** The model of the next request; waits until it is known. */
  readonly languageModel: Effect.Effect<LanguageModel.LanguageModel>
  /** The system text of the next run. */
  readonly system: Effect.Effect<SystemText>
  /** The built-in tools. */
  readonly builtins: ReadonlyArray<Tool>
  /** The tools of the next step. */
  readonly tools: Effect.Effect<ToolSet>
  readonly toolNews: LoopOptions["toolNews"]
  readonly queues: QueueModes
  readonly permissions?: PermissionOptions
  /** Keeps what files held before calls changed them; nothing does where it is absent. */
  readonly snapshots?: Snapshots
  /** The most requests to the model a run may make. */
  readonly maxSteps?: number
}

/** One open session at work. */
export interface Conversation {
  readonly session: Session
  /** Writes into it. */
  readonly ledger: Ledger
  readonly history: History
  readonly queues: Queues
  /** How full the model's context is, as far as it is known now. */
  readonly usage: () => { readonly tokens: number; readonly window: number }
  readonly permissions: Permissions
  /** Runs the user's next words to their end. */
  readonly run: (content: ReadonlyArray<ContentPart>, origin?: Origin) => Effect.Effect<RunResult>
  readonly compact: (instruction: string) => Effect.Effect<Compacted>
  readonly farewell: Farewell
  /** What extensions may ask. */
  readonly access: SessionAccessShape
  /** Takes what an extension wants stored. */
  readonly store: typeof EntrySink["Service"]
  /** What an extension has stored so far, oldest first. */
  readonly stored: (extension: string) => ReadonlyArray<unknown>
}

/** Makes compactions anew when the model's window changes. */
const followingWindow = Effect.fnUntraced(function*(options: Omit<CompactionOptions, "contextWindow">, window: () => number | undefined) {
  const hooks = yield* Hooks
  let made: { readonly window: number | undefined; readonly compaction: Compaction } | undefined
  const present = Effect.suspend(() => {
    const contextWindow = window()
    if (made !== undefined && made.window === contextWindow) return Effect.succeed(made.compaction)
    return makeCompaction({ ...options, ...(contextWindow === undefined ? {} : { contextWindow }) }).pipe(
      Effect.provideService(Hooks, hooks),
      Effect.tap((compaction) => Effect.sync(() => (made = { window: contextWindow, compaction })))
    )
  })
  const first = yield* present
  const following: Compaction = {
    beforeStep: Effect.flatMap(present, ({ beforeStep }) => beforeStep),
    afterOverflow: Effect.flatMap(present, ({ afterOverflow }) => afterOverflow),
    onRequest: (instruction) => Effect.flatMap(present, ({ onRequest }) => onRequest(instruction)),
    usage: Effect.flatMap(present, ({ usage }) => usage),
    usageNow: (entries) => made?.compaction.usageNow(entries) ?? first.usageNow(entries)
  }
  return following
})

/** Takes up a session. Nothing is told to anybody yet. */
export const makeConversation = Effect.fnUntraced(function*(
  options: ConversationOptions,
  opened: Session
): Effect.fn.Return<Conversation, never, Hooks> {
  const { builtins, selection, system, tools } = options
  const hooks = yield* Hooks
  const history = new History(yield* opened.entries)
  const session = observed(opened, hooks, history)
  const ledger = makeLedger(session)
  const queues = yield* makeQueues(options.queues, session.id)
  const permissions = yield* makePermissions(options.permissions)
  const runner = yield* makeToolRunner(permissions)
  const compaction = yield* followingWindow({
    session,
    ledger,
    system: Effect.map(system, wholeText),
    tools,
    ...(options.compaction === undefined ? {} : { compaction: options.compaction })
  }, () => selection().contextWindow)
  const farewell = makeFarewell(hooks, aboutSession(session))
  const loop = yield* makeLoop({
    session, ledger, selection, system, queues, runner, events: makeModuleEvents(hooks, aboutSession(session), history), compaction, farewell, tools, toolNews: options.toolNews,
    ...(options.maxSteps === undefined ? {} : { maxSteps: options.maxSteps }),
    ...(options.snapshots === undefined ? {} : { snapshots: options.snapshots })
  })

  const events = providerEvents(hooks, () => aboutSelection(session, selection()))
  const withModel = <A, E>(effect: Effect.Effect<A, E, LanguageModel.LanguageModel>): Effect.Effect<A, E> =>
    Effect.flatMap(options.languageModel, (languageModel) =>
      effect.pipe(
        Effect.provideService(LanguageModel.LanguageModel, languageModel),
        Effect.provideService(ProviderHooks, events)
      ))

  const kept = new Map<string, Array<unknown>>()
  const keep = (extension: string, data: unknown) => {
    const all = kept.get(extension)
    if (all === undefined) kept.set(extension, [data])
    else all.push(data)
  }
  for (const entry of history.entries) {
    if (entry.type === "extension" && "data" in entry) keep(entry.extension, entry.data)
  }

  return {
    session,
    ledger,
    history,
    usage: () => compaction.usageNow(history.entries),
    queues,
    permissions,
    farewell,
    run: (content, origin) => withModel(loop(content, origin)),
    compact: (instruction) => withModel(compaction.onRequest(instruction)),
    access: sessionRequests({
      session,
      ledger,
      queues,
      usage: compaction.usage,
      complete: (extension, completion) => withModel(complete({ session, selection, tools: builtins, runner }, extension, completion)),
      ...(options.onIdleText === undefined ? {} : { onIdleText: options.onIdleText })
    }),
    store: ({ custom_type, data, extension }) => {
      keep(extension, data)
      return Effect.ignore(ledger.append({ type: "extension", extension, data, ...(custom_type === undefined ? {} : { custom_type }) }))
    },
    stored: (extension) => kept.get(extension) ?? []
  }
})
