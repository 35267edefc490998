/**
 * Drives a nimlet from another program, by RPC mode: prompts and what comes of them, every other command, the records as
 * they come, and, where the program wants it, the questions that a person would be asked.
 */
import { Cause, Deferred, Duration, Effect, Fiber, Option, Predicate, PubSub, type Scope, Stream } from "effect"
import type { ResponseRecord, RpcCommandBody, RpcCommandName, RpcRecord } from "@nimlet/protocol"
import { ClientClosed, CommandRefused } from "./ClientError.ts"
import { type ClientProcess, openProcess, type ProcessOptions } from "./ClientProcess.ts"

/** A call of a tool that waits for a decision. */
export type ApprovalRecord = Extract<RpcRecord, { readonly type: "approval_required" }>
/** A question. */
export type QuestionRecord = Extract<RpcRecord, { readonly type: "ui_request" }>
/** What is decided about a call. */
export type Decision = Omit<RpcCommandBody<"approve">, "request_id">
/** What is answered: `answer` to a question, an input or an editor, `confirmed` to a confirmation, or `cancelled`. */
export type Answering = Omit<RpcCommandBody<"answer">, "request_id">

/** Answers in a person's place. Without one, or where it dies or nimlet refuses what it says, approvals are denied and questions cancelled. */
export interface ClientUi {
  readonly approve?: (record: ApprovalRecord) => Effect.Effect<Decision>
  readonly answer?: (record: QuestionRecord) => Effect.Effect<Answering>
}

/** How to start nimlet, and who answers its questions; without `ui` tools run unasked and questions are cancelled. */
export interface ClientOptions extends ProcessOptions {
  readonly ui?: ClientUi
}

/** What came of a turn: its answer, or why it failed. */
export interface TurnResult {
  readonly success: boolean
  /** The final answer, also a structured one; empty where there was none. */
  readonly text: string
  readonly error: string | undefined
}

/** A nimlet at work. Every method fails with `ClientClosed` once the process has ended or the scope of the client has closed. */
export interface NimletClient {
  /** Sends any command and gives the reply. Fails with `CommandRefused` when nimlet says no. */
  readonly request: <N extends RpcCommandName>(type: N, body: RpcCommandBody<N>) => Effect.Effect<ResponseRecord, CommandRefused | ClientClosed>
  /** Runs a prompt (or, with a slash, a command) to its end. Interrupting it interrupts the turn. A turn that fails is a result, no failure. */
  readonly prompt: (message: string) => Effect.Effect<TurnResult, CommandRefused | ClientClosed>
  /** Says something before the next step of the turn under way. */
  readonly steer: (message: string) => Effect.Effect<void, CommandRefused | ClientClosed>
  /** Says something when the turn under way would end. */
  readonly followUp: (message: string) => Effect.Effect<void, CommandRefused | ClientClosed>
  /** Interrupts the turn under way, if there is one. What was said to it and waits begins a turn of its own; `clear_queue` before takes it back. */
  readonly interrupt: Effect.Effect<void, CommandRefused | ClientClosed>
  /**
   * All records from now on, until the process ends. A taker who is 4,096 records behind holds nimlet up until it has
   * caught up, so it must not wait for a turn itself.
   */
  readonly records: Stream.Stream<RpcRecord>
  /** Returns when the process has ended, and says how. */
  readonly ended: Effect.Effect<ClientClosed>
}

/** How long nimlet may take to say that it is there; it does so before its extensions start. */
const hello = Duration.seconds(30)
const buffered = 4096

const isRecord = (value: unknown): value is RpcRecord =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"

const parse = (line: string): RpcRecord | undefined => {
  try {
    const value: unknown = JSON.parse(line)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Why there is no answer, in a line. */
const saidBy = (cause: Cause.Cause<CommandRefused | ClientClosed>): string => {
  const why = Cause.squash(cause)
  return Predicate.isTagged(why, "CommandRefused") && "error" in why ? String(why.error) : why instanceof Error ? why.message : String(why)
}

/** A client of a process that is there already. Fails with `ClientClosed` when it does not say hello within 30 s. */
export const makeClient = Effect.fnUntraced(function*(
  process: ClientProcess,
  ui?: ClientUi
): Effect.fn.Return<NimletClient, ClientClosed, Scope.Scope> {
  const scope = yield* Effect.scope
  // Overflow policy: suspend, so that no record is lost.
  const records = yield* PubSub.bounded<RpcRecord>(buffered)
  const closed = yield* Deferred.make<never, ClientClosed>()
  const replies = new Map<string, Deferred.Deferred<ResponseRecord>>()
  const turns = new Map<string, Deferred.Deferred<TurnResult>>()
  let answer = { turn: "", text: "" }
  /** Outputs of the calls with which the turn may end. */
  const outputs = new Map<string, string>()
  let count = 0

  const orClosed = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E | ClientClosed> => Effect.raceFirst(effect, Deferred.await(closed))

  const exchange = Effect.fnUntraced(function*(id: string, type: RpcCommandName, body: object) {
    const waiting = yield* Deferred.make<ResponseRecord>()
    replies.set(id, waiting)
    const asked = Effect.andThen(process.send(JSON.stringify({ ...body, id, type })), Deferred.await(waiting))
    const reply = yield* Effect.ensuring(orClosed(asked), Effect.sync(() => replies.delete(id)))
    if (!reply.ok) return yield* new CommandRefused({ command: type, error: reply.error ?? "refused" })
    return reply
  })
  const request: NimletClient["request"] = (type, body) => Effect.suspend(() => exchange(`${++count}`, type, body))

  const prompt: NimletClient["prompt"] = Effect.fnUntraced(function*(message) {
    const id = `${++count}`
    const turn = yield* Deferred.make<TurnResult>()
    turns.set(id, turn)
    return yield* exchange(id, "prompt", { message }).pipe(
      Effect.andThen(orClosed(Deferred.await(turn))),
      Effect.onInterrupt(() => process.send(JSON.stringify({ id: `${++count}`, type: "interrupt" }))),
      Effect.ensuring(Effect.sync(() => turns.delete(id)))
    )
  })

  /** A program in JavaScript may have said anything; a turn must not wait for ever for what nimlet can use. */
  const denied = (why: string): Decision => ({ decision: "deny", reason: `the program that answers gave no usable decision: ${why}` })
  const decide = (record: ApprovalRecord) => ui?.approve?.(record) ?? Effect.succeed<Decision>({ decision: "deny" })
  const reply = (record: QuestionRecord) => ui?.answer?.(record) ?? Effect.succeed<Answering>({ cancelled: true })
  /** Whoever answers may take any time; other records go on meanwhile. What comes too late is refused twice, which is all there is to it. */
  const respond = (type: "approve" | "answer", request_id: string, said: () => Effect.Effect<object>, otherwise: (why: string) => object) => {
    const say = (body: object) => exchange(`${++count}`, type, { ...body, request_id })
    return Effect.suspend(said).pipe(
      Effect.flatMap(say),
      Effect.catchCause((cause) => Effect.suspend(() => say(otherwise(saidBy(cause))))),
      Effect.ignore,
      Effect.forkIn(scope)
    )
  }

  const take = Effect.fnUntraced(function*(record: RpcRecord) {
    switch (record.type) {
      case "response": {
        const waiting = replies.get(record.id)
        if (waiting !== undefined) yield* Deferred.succeed(waiting, record)
        break
      }
      case "message":
        if (record.role === "assistant") answer = { turn: record.turn_id, text: record.final ? record.content : "" }
        break
      case "step_start":
        outputs.clear()
        break
      case "tool_result":
        if (record.terminate === true) outputs.set(record.tool_id, record.output)
        break
      case "run_end": {
        const turn = record.request_id === undefined ? undefined : turns.get(record.request_id)
        const said = answer.turn === record.turn_id ? answer.text : ""
        const text = record.answer === undefined ? said : outputs.get(record.answer) ?? ""
        if (turn !== undefined) yield* Deferred.succeed(turn, { success: record.success === true, text, error: record.error })
        break
      }
      case "approval_required":
        if (record.request_id !== undefined) yield* respond("approve", record.request_id, () => decide(record), denied)
        break
      case "ui_request":
        if (record.method !== "withdraw") yield* respond("answer", record.request_id, () => reply(record), () => ({ cancelled: true }))
        break
    }
    // The end of the client lets a record go that a slow taker holds up.
    yield* Effect.exit(PubSub.publish(records, record))
  })

  const reader = yield* process.lines.pipe(
    Stream.runForEach((line) => {
      const record = parse(line)
      return record === undefined ? Effect.void : take(record)
    }),
    Effect.andThen(process.ended),
    Effect.flatMap((how) => Deferred.fail(closed, how)),
    Effect.ensuring(PubSub.shutdown(records)),
    Effect.forkDetach({ startImmediately: true })
  )
  // Reads to the end of the process, so that a turn under way still gives its result; nothing may wait behind that.
  yield* Effect.addFinalizer(() =>
    PubSub.shutdown(records).pipe(
      Effect.andThen(process.close),
      Effect.andThen(Fiber.interrupt(reader)),
      Effect.andThen(Deferred.fail(closed, new ClientClosed({ reason: "was closed", stderr: "" })))
    )
  )

  const greeting = yield* request("initialize", { ui: ui !== undefined }).pipe(
    Effect.catchTag("CommandRefused", ({ error }) => Effect.fail(new ClientClosed({ reason: error, stderr: "" }))),
    Effect.timeoutOption(hello)
  )
  if (Option.isNone(greeting)) return yield* new ClientClosed({ reason: "did not answer within 30 s", stderr: "" })

  return {
    request,
    prompt,
    steer: (message) => Effect.asVoid(request("steer", { message })),
    followUp: (message) => Effect.asVoid(request("follow_up", { message })),
    interrupt: Effect.asVoid(request("interrupt", {})),
    records: Stream.fromPubSub(records),
    ended: process.ended
  }
})

/** Starts nimlet and connects to it; it ends with the scope. Fails with `ClientClosed` when it does not start. */
export const startClient = ({ ui, ...options }: ClientOptions = {}): Effect.Effect<NimletClient, ClientClosed, Scope.Scope> =>
  Effect.flatMap(openProcess(options), (process) => makeClient(process, ui))
