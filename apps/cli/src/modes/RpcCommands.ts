/**
 * What each command of RPC mode does. A command is answered before the next is looked at, or, when it takes time, becomes a
 * job that answers when it is done. Texts that a turn takes up wait for that turn in the order in which they came.
 */
import { Cause, Effect, Exit, type Fiber, type Scope, Semaphore } from "effect"
import type { Offer, QueueMode } from "@nimlet/agent"
import type { RpcCommand, RpcCommandName } from "@nimlet/protocol"
import { thinkingLevelOf, thinkingLevels } from "@nimlet/provider"
import type { Conversing } from "./Mode.ts"
import type { Reply } from "./RpcQuestions.ts"
import type { RpcJobs } from "./RpcJobs.ts"
import { aboutModel, withWords } from "../report/ModelReport.ts"
import { aboutExtension, aboutStoredSession, statsOf } from "./RpcReports.ts"
import type { RpcWriter } from "./RpcWriter.ts"

/** Commands that are answered without an agent, and before others. */
export type FrontCommand = Reply | Extract<RpcCommand, { readonly type: "initialize" }>

/** The other commands. */
export type AgentCommand = Exclude<RpcCommand, FrontCommand>

/** What commands work with. */
export interface RpcCommandOptions {
  readonly conversing: Conversing
  readonly jobs: RpcJobs
  readonly writer: RpcWriter
  /** How texts are taken from the queues now. */
  readonly modes: { steering?: QueueMode; followUp?: QueueMode }
  /** Saves a setting of `agent`. */
  readonly save: (key: string, value: string) => Effect.Effect<void, { readonly message: string }>
  readonly scope: Scope.Scope
}

type AgentCommandName = AgentCommand["type"]
/** The command of a name; of several names, one of theirs. */
type Named<N extends AgentCommandName> = { readonly [K in N]: { readonly type: K } & Extract<AgentCommand, { readonly type: K }> }[N]
type Handlers = { readonly [N in AgentCommandName]: (command: Named<N>) => Effect.Effect<unknown> }

const offers: { readonly [O in Exclude<Offer, "accepted">]: string } = {
  idle: "Agent is idle; use prompt.",
  full: "Too many messages are queued already.",
  spent: "Extensions have said enough in this turn."
}

/** What waits for a change that is under way: a client need not read the reply to `new` before it says something there. */
const patient = new Set<RpcCommandName>([
  "prompt", "steer", "follow_up", "command", "new", "resume", "fork", "compact", "reload", "set_model", "set_thinking", "set_mode", "trust", "stats", "get_state"
])

/** Carries out commands. */
export interface RpcObedience {
  /** Carries out a command; true when it was the last. */
  readonly obey: (command: AgentCommand) => Effect.Effect<boolean>
  /** From here on all commands are refused. */
  readonly stop: Effect.Effect<void>
  /** Returns when everything that waited for its turn is answered. */
  readonly answered: Effect.Effect<void>
}

/** What carries out commands; none is under way. */
export const makeRpcCommands = Effect.fnUntraced(function*(
  { conversing: { agent, extensions, model, models, sessions, trust }, jobs, modes, save, scope, writer }: RpcCommandOptions
): Effect.fn.Return<RpcObedience> {
  const inOrder = yield* Semaphore.make(1)
  let stopping = false
  let waiting = 0

  const succeed = (id: string, more: object = {}) => writer.reply(id, { ok: true, ...more })
  const fail = (id: string, error: string) => writer.reply(id, { ok: false, error })

  const say = Effect.fnUntraced(function*(id: string, mode: "steer" | "follow_up", text: string) {
    yield* jobs.begun
    const offer = yield* mode === "steer" ? agent.steer(text, id) : agent.followUp(text, id)
    yield* offer === "accepted" ? succeed(id, { state: "queued" }) : fail(id, offers[offer])
  })
  /** Queues a text without holding up the commands behind it. */
  const queue = (id: string, mode: "steer" | "follow_up", text: string): Effect.Effect<Fiber.Fiber<void> | void> =>
    jobs.busy() === "run" ? Effect.forkIn(inOrder.withPermits(1)(say(id, mode, text)), scope, { startImmediately: true }) : fail(id, offers.idle)

  const begin = (id: string, typed: string) => Effect.andThen(succeed(id, { state: "started" }), jobs.run(agent, { typed }, id))
  const busyWith = (id: string) => fail(id, `Agent is busy with ${jobs.busy() === "run" ? "a turn" : jobs.busy()}; interrupt it, or wait for its end.`)

  const answerWith = <A extends object>(id: string) => (exit: Exit.Exit<A, { readonly message: string }>) => {
    if (Exit.isSuccess(exit)) return succeed(id, exit.value)
    const known = Cause.findError(exit.cause)
    return fail(id, known._tag === "Success" ? known.success.message : Cause.hasInterrupts(exit.cause) ? "Interrupted" : Cause.pretty(exit.cause))
  }
  /** Carries out what cannot go on beside anything else, and answers with what came of it. */
  const change = <A extends object>(id: string, kind: string, work: Effect.Effect<A, { readonly message: string }>) =>
    jobs.busy() !== undefined ? busyWith(id) : jobs.change(kind, work, answerWith(id))
  /** Runs a command beside the turn and answers with what it said; `otherwise` is for what may not run so. */
  const beside = (id: string, typed: string, otherwise: Effect.Effect<unknown>) =>
    Effect.flatMap(agent.aside(typed), (run): Effect.Effect<unknown> =>
      run === undefined ? otherwise : jobs.beside(Effect.map(run, (message) => ({ state: "done", message })), answerWith(id)))
  const entered = ({ session, text, title }: { readonly session: { readonly id: string }; readonly text: string; readonly title: string }) =>
    ({ session_id: session.id, title, ...(text === "" ? {} : { text }) })

  const setQueueMode = (id: string, key: "steering" | "followUp", name: string, mode: QueueMode) =>
    Effect.matchEffect(save(name, mode), {
      onFailure: ({ message }) => fail(id, message),
      onSuccess: () => Effect.suspend(() => {
        modes[key] = mode
        return succeed(id)
      })
    })

  const state = Effect.gen(function*() {
    const { followUp, steering } = yield* agent.queued
    const { model, provider } = yield* agent.selection
    const { level, levels } = yield* agent.thinking
    return {
      session_id: (yield* agent.session).id,
      busy: jobs.busy() !== undefined,
      queued: steering.length + followUp.length,
      steering: steering.length,
      follow_up: followUp.length,
      steering_mode: modes.steering ?? "one-at-a-time",
      follow_up_mode: modes.followUp ?? "one-at-a-time",
      mode: (yield* agent.mode).id,
      provider,
      model,
      ...(level === undefined ? {} : { thinking: level }),
      thinking_levels: levels
    }
  })

  const handlers: Handlers = {
    prompt: ({ id, message, streamingBehavior }) => {
      const busy = jobs.busy()
      if (busy === undefined) return begin(id, message)
      if (busy !== "run") return busyWith(id)
      return beside(id, message, streamingBehavior === undefined
        ? fail(id, "prompt requires streamingBehavior: steer or followUp while busy.")
        : queue(id, streamingBehavior === "steer" ? "steer" : "follow_up", message))
    },
    steer: ({ id, message }) => queue(id, "steer", message),
    follow_up: ({ id, message }) => queue(id, "follow_up", message),
    interrupt: ({ id }) => Effect.flatMap(jobs.interrupt, (did) => succeed(id, { state: did ? "interrupting" : "idle" })),
    command: ({ arguments: args = "", id, name }) => {
      if (!/^[^\s/]+$/.test(name)) return fail(id, "name must be that of a command, without its slash.")
      const typed = `/${name}${args === "" ? "" : ` ${args}`}`
      const busy = jobs.busy()
      return busy === undefined ? begin(id, typed) : busy === "run" ? beside(id, typed, busyWith(id)) : busyWith(id)
    },
    new: ({ id }) => change(id, "new", Effect.map(agent.newSession, entered)),
    resume: ({ id, session }) => change(id, "resume", Effect.map(agent.resume(session), entered)),
    fork: ({ id, message }) => change(id, "fork", Effect.map(agent.fork(message), entered)),
    compact: ({ id, instruction = "" }) => change(id, "compact", agent.compact(instruction)),
    reload: ({ id }) => change(id, "reload", Effect.as(agent.reload, {})),
    set_model: ({ id, type: _, ...name }) =>
      change(id, "set_model", Effect.gen(function*() {
        const { model: id, provider, ...choice } = yield* model(name)
        yield* agent.select({ ...choice, provider, model: id })
        return { provider, model: id, known: (yield* models).some((one) => one.provider === provider && one.model === id) }
      })),
    set_thinking: ({ id, level: name }) => {
      const wanted = thinkingLevelOf(name)
      if (wanted === undefined) return fail(id, `level must be one of ${thinkingLevels.join(", ")}.`)
      return Effect.matchEffect(agent.setThinking(wanted), {
        onFailure: ({ message }) => fail(id, message),
        onSuccess: ({ level, levels }) => succeed(id, { thinking: level, thinking_levels: levels })
      })
    },
    set_mode: ({ id, mode }) =>
      Effect.matchEffect(agent.setMode(mode), { onFailure: ({ message }) => fail(id, message), onSuccess: (chosen) => succeed(id, { mode: chosen.id }) }),
    trust: ({ id, on }) =>
      change(id, "trust", trust.set(on).pipe(
        Effect.andThen(agent.reload),
        Effect.map(() => {
          const { files, trusted } = trust.current()
          return { trusted, files: files.map(({ path }) => path) }
        })
      )),
    get_state: ({ id }) => Effect.flatMap(state, (found) => succeed(id, found)),
    clear_queue: ({ id }) =>
      Effect.flatMap(agent.clearQueued, ({ followUp, steering }) =>
        succeed(id, { steering: steering.map(({ content }) => content), follow_up: followUp.map(({ content }) => content) })),
    set_steering_mode: ({ id, mode }) => setQueueMode(id, "steering", "steering_mode", mode),
    set_follow_up_mode: ({ id, mode }) => setQueueMode(id, "followUp", "follow_up_mode", mode),
    extensions: ({ id }) => Effect.flatMap(extensions.figures, (figures) => succeed(id, { extensions: figures.map(aboutExtension) })),
    list_sessions: ({ id, query }) =>
      Effect.flatMap(agent.session, ({ workspace }) => sessions.list({ workspace, unheaded: true, ...(query === undefined ? {} : { query }) })).pipe(
        Effect.flatMap((found) => succeed(id, { sessions: found.map(aboutStoredSession) }))
      ),
    list_models: ({ id, query = "" }) =>
      Effect.flatMap(models, (all) => succeed(id, { models: withWords(all.map(aboutModel), query.split(/\s+/).filter((word) => word !== "")) })),
    stats: ({ id }) =>
      Effect.gen(function*() {
        const session = yield* agent.session
        const { contextWindow, model, provider } = yield* agent.selection
        const { cost } = yield* agent.totals
        yield* succeed(id, {
          session_id: session.id,
          provider,
          model,
          ...(contextWindow === undefined ? {} : { context_window: contextWindow }),
          ...statsOf(yield* session.entries),
          ...(cost === undefined ? {} : { cost })
        })
      }),
    ui_action: ({ action, id, key, text }) =>
      Effect.flatMap(extensions.act(key, action, text), (did) => did ? succeed(id) : fail(id, `No widget '${key}' offers the action '${action}'.`)),
    shutdown: ({ id }) =>
      Effect.gen(function*() {
        stopping = true
        yield* agent.clearQueued
        yield* succeed(id, { state: jobs.busy() === undefined ? "stopped" : "stopping" })
      })
  }

  const handle = <N extends AgentCommandName>(command: Named<N>) => handlers[command.type](command)
  const obey = (command: AgentCommand): Effect.Effect<unknown> => stopping ? fail(command.id, "RPC is shutting down.") : handle(command)
  const obeyLater = (command: AgentCommand) =>
    Effect.suspend(() => {
      waiting++
      const turn = Effect.andThen(jobs.changed, Effect.suspend(() => obey(command)))
      return Effect.forkIn(Effect.ensuring(inOrder.withPermits(1)(turn), Effect.sync(() => void waiting--)), scope, { startImmediately: true })
    })

  return {
    obey: (command) => {
      const busy = jobs.busy()
      const waits = patient.has(command.type) && !stopping && (waiting > 0 || busy !== undefined && busy !== "run")
      const obeyed: Effect.Effect<unknown> = waits ? obeyLater(command) : obey(command)
      return Effect.map(obeyed, () => stopping)
    },
    stop: Effect.sync(() => void (stopping = true)),
    // They are let through in the order in which they came.
    answered: inOrder.withPermits(1)(Effect.void)
  }
})
