/**
 * What a client has asked for and takes time: turns, and changes of the session. At most one is under way; one that was
 * interrupted no longer counts, so that its client can go on at once. Commands that may run beside a turn are no turns.
 */
import { Cause, Deferred, Effect, Exit, Fiber, type Scope, Semaphore } from "effect"
import { type Agent, EventSink, type RunResult, type UserInput } from "@nimlet/agent"
import type { ApprovalRequest } from "@nimlet/extension"
import type { AgentEvent } from "@nimlet/protocol"
import type { RpcWriter } from "./RpcWriter.ts"

type CallEvent = Extract<AgentEvent, { readonly type: "tool_call" }>

/** What a job is: a turn that takes further words, or the command that it carries out. */
interface Job {
  readonly kind: () => string
  readonly fiber: Fiber.Fiber<void>
  /** Done when its turn has begun to take further words, or is over. */
  readonly begun: Deferred.Deferred<void>
  /** Begins what follows it, when it leaves; nothing else can come between. */
  readonly followed: Effect.Effect<void>
  leaving: boolean
}

/** The jobs of a process. */
export interface RpcJobs {
  /** The kind of what is under way: `run` for a turn until its end is told, else a command's name. */
  readonly busy: () => string | undefined
  /** Runs words as a turn; `id` is told at its end. */
  readonly run: (agent: Agent["Service"], input: UserInput, id?: string) => Effect.Effect<void>
  /** Carries out a command; `told` takes how it ended. */
  readonly change: <A, E>(kind: string, work: Effect.Effect<A, E>, told: (exit: Exit.Exit<A, E>) => Effect.Effect<void>) => Effect.Effect<void>
  /** Carries out a command that may go on beside all of them; `told` takes how it ended. Returns at once. */
  readonly beside: <A, E>(work: Effect.Effect<A, E>, told: (exit: Exit.Exit<A, E>) => Effect.Effect<void>) => Effect.Effect<void>
  /** Returns when the turn under way takes further words, or there is none. */
  readonly begun: Effect.Effect<void>
  /** Returns when no change is under way, nor what comes after the end of a turn: a session that its command enters. */
  readonly changed: Effect.Effect<void>
  /** Interrupts what is under way, and what goes on beside it; false when nothing is. */
  readonly interrupt: Effect.Effect<boolean>
  /** Interrupts and returns when everything has ended. Nothing new is begun from then on. */
  readonly end: Effect.Effect<void>
  /** The call that an approval is about. */
  readonly callOf: (request: ApprovalRequest) => CallEvent | undefined
}

/** What became of a turn, for the end of it. */
interface Turn {
  /** Its last error. */
  error: string | undefined
  /** Its last `run_end` was written. */
  told: boolean
  /** Takes no further words. */
  ended: boolean
  /** Ids of commands whose words came from the queue into it. */
  joined: ReadonlyArray<string>
}

const why = (exit: Exit.Exit<unknown, unknown>): string =>
  Exit.isSuccess(exit) ? "The turn ended without a word." : Cause.hasInterruptsOnly(exit.cause) ? "Interrupted" : Cause.pretty(exit.cause)

/** Jobs in a scope, which interrupts them when it closes. `publish` takes the events of every turn. */
export const makeRpcJobs = (scope: Scope.Scope, writer: RpcWriter, publish: EventSink["publish"]): RpcJobs => {
  const jobs = new Set<Job>()
  const besides = new Set<Fiber.Fiber<void>>()
  const calls = new Map<string, CallEvent>()
  // Whoever was interrupted may need a moment to end; records of two turns never mix.
  const inTurn = Semaphore.makeUnsafe(1).withPermits(1)
  let closed = false
  const present = () => [...jobs].find(({ leaving }) => !leaving)

  /** From here on a job is not counted any more; gives what begins in its place. */
  const leave = (job: Job): Effect.Effect<void> => {
    if (job.leaving) return Effect.void
    job.leaving = true
    return closed ? Effect.void : job.followed
  }

  /** Begins a job. However soon it is interrupted, `told` takes how it ended. */
  const start = Effect.fnUntraced(function*<A, E>(
    kind: () => string,
    begun: Deferred.Deferred<void>,
    work: Effect.Effect<A, E>,
    told: (exit: Exit.Exit<A, E>) => Effect.Effect<void>,
    followed: Effect.Effect<void>
  ) {
    const gate = yield* Deferred.make<Job>()
    const carriedOut = Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Deferred.await(gate), (job) =>
        Effect.exit(restore(inTurn(work))).pipe(Effect.flatMap(told), Effect.andThen(Effect.suspend(() => leave(job))))))
    const fiber = yield* Effect.forkIn(carriedOut, scope, { startImmediately: true })
    const job: Job = { kind, fiber, begun, followed, leaving: false }
    jobs.add(job)
    fiber.addObserver(() => {
      jobs.delete(job)
      Deferred.doneUnsafe(begun, Effect.void)
    })
    yield* Deferred.succeed(gate, job)
  })

  const sinkOf = (turn: Turn, begun: Deferred.Deferred<void>, id: string | undefined): EventSink => ({
    publish: (event) => Effect.suspend((): Effect.Effect<unknown> => {
      switch (event.type) {
        case "run_start":
          turn.error = undefined
          turn.ended = false
          return Effect.andThen(publish(event), Deferred.succeed(begun, undefined))
        case "error":
          turn.error = event.message
          break
        case "tool_call":
          calls.set(event.tool_id, event)
          break
        case "tool_result":
          calls.delete(event.tool_id)
          break
        case "queue":
          if (event.action === "dequeue" && event.request_id !== undefined) turn.joined = [...turn.joined, event.request_id]
          break
        case "run_end": {
          calls.clear()
          const { joined } = turn
          turn.joined = []
          turn.told = event.followed !== true
          turn.ended = turn.told
          return writer.event(event, {
            ...(id === undefined || !turn.told ? {} : { request_id: id }),
            ...(joined.length === 0 ? {} : { request_ids: joined }),
            success: turn.error === undefined,
            ...(turn.error === undefined ? {} : { error: turn.error })
          })
        }
      }
      return publish(event)
    }).pipe(Effect.asVoid)
  })

  /** The records of a turn of which there are none: it was interrupted before it began. */
  const tell = Effect.fnUntraced(function*(agent: Agent["Service"], sink: EventSink, message: string, id: string) {
    const { id: session_id } = yield* agent.session
    const place = { session_id, turn_id: `${session_id}:request:${id}`, run_id: `${session_id}:request:${id}` }
    yield* sink.publish({ type: "run_start", ...place, prompt: "" })
    yield* sink.publish({ type: "error", ...place, step: -1, message })
    yield* sink.publish({ type: "run_end", ...place })
  })

  const run: RpcJobs["run"] = Effect.fnUntraced(function*(agent, input, id) {
    // What an extension says to a turn's end when everything ends would outlast the session.
    if (closed && id === undefined) return
    const turn: Turn = { error: undefined, told: false, ended: false, joined: [] }
    const begun = yield* Deferred.make<void>()
    const sink = sinkOf(turn, begun, id)
    const work: Effect.Effect<RunResult> = Effect.provideService(agent.prompt(input), EventSink, sink)
    const told = (exit: Exit.Exit<RunResult>) => turn.told || id === undefined ? Effect.void : inTurn(tell(agent, sink, why(exit), id))
    // The oldest of what it has left begins a turn of its own.
    const followed = agent.takeLeft.pipe(
      Effect.provideService(EventSink, { publish }),
      Effect.flatMap((left) => {
        if (left === undefined) return Effect.void
        return run(agent, { typed: left.content, literal: left.extension !== undefined, ...(left.images === undefined ? {} : { attached: left.images }) }, left.requestId)
      })
    )
    yield* start(() => turn.ended ? "the end of a turn" : "run", begun, work, told, followed)
  })

  const beside: RpcJobs["beside"] = (work, told) => {
    const ended = work.pipe(Effect.onExit(told), Effect.exit, Effect.asVoid, Effect.provideService(EventSink, { publish }))
    return Effect.map(Effect.forkIn(ended, scope, { startImmediately: true }), (fiber) => {
      besides.add(fiber)
      fiber.addObserver(() => void besides.delete(fiber))
    })
  }

  const interrupt = Effect.suspend(() => {
    const job = present()
    const any = besides.size > 0
    for (const fiber of besides) fiber.interruptUnsafe()
    if (job === undefined) return Effect.succeed(any)
    const followed = leave(job)
    job.fiber.interruptUnsafe()
    return Effect.as(followed, true)
  })

  return {
    busy: () => present()?.kind(),
    run,
    change: (kind, work, told) =>
      Effect.flatMap(Deferred.make<void>(), (begun) =>
        start(() => kind, begun, Effect.provideService(work, EventSink, { publish }), told, Effect.void)),
    beside,
    begun: Effect.suspend(() => {
      const job = present()
      return job === undefined ? Effect.void : Deferred.await(job.begun)
    }),
    changed: Effect.suspend(() => {
      const job = present()
      return job === undefined || job.kind() === "run" ? Effect.void : Effect.asVoid(Fiber.await(job.fiber))
    }),
    interrupt,
    end: Effect.suspend(() => {
      closed = true
      return Effect.asVoid(Effect.andThen(interrupt, Effect.forEach([...jobs].map(({ fiber }) => fiber).concat([...besides]), Fiber.await)))
    }),
    callOf: ({ arguments: args, tool }) => {
      const named = [...calls.values()].filter(({ tool_name }) => tool_name === tool)
      return named.find(({ input }) => JSON.stringify(input) === JSON.stringify(args)) ?? named[0]
    }
  }
}
