/** The client for programs that do without Effect: the same in promises. */
import { Effect, Exit, Fiber, Scope, Stream } from "effect"
import type { ResponseRecord, RpcCommandBody, RpcCommandName, RpcRecord } from "@nimlet/protocol"
import { type Answering, type ApprovalRecord, type Decision, type NimletClient, type QuestionRecord, startClient, type TurnResult } from "./Client.ts"
import type { ClientClosed } from "./ClientError.ts"
import type { ProcessOptions } from "./ClientProcess.ts"

/** How to start nimlet, and who answers its questions; without `ui` tools run unasked and questions are cancelled. */
export interface NimletOptions extends ProcessOptions {
  readonly ui?: {
    readonly approve?: (record: ApprovalRecord) => Decision | Promise<Decision>
    readonly answer?: (record: QuestionRecord) => Answering | Promise<Answering>
  }
}

/** A nimlet at work. Promises are rejected with `CommandRefused` when it says no, and with `ClientClosed` when it has ended. */
export interface Nimlet extends AsyncDisposable {
  /** Runs a prompt to its end; aborting `signal` interrupts the turn and rejects with its reason, an `AbortError` unless you give another. A turn that fails is a result. */
  readonly prompt: (message: string, options?: { readonly signal?: AbortSignal }) => Promise<TurnResult>
  readonly steer: (message: string) => Promise<void>
  readonly followUp: (message: string) => Promise<void>
  readonly interrupt: () => Promise<void>
  /** Sends any command and gives the reply. */
  readonly request: <N extends RpcCommandName>(type: N, body: RpcCommandBody<N>) => Promise<ResponseRecord>
  /** Calls `listener` with every record from now on. The function that comes back ends that. */
  readonly onRecord: (listener: (record: RpcRecord) => void) => () => void
  /** How the process has ended, when it has. */
  readonly ended: Promise<ClientClosed>
  /** Ends nimlet, and returns when it has ended. */
  readonly close: () => Promise<void>
}

/** A handler that fails answers nothing: what is asked is denied or cancelled. */
const handled = <R, A>(handler: (record: R) => A | Promise<A>, otherwise: A) => (record: R): Effect.Effect<A> =>
  Effect.catch(Effect.tryPromise(() => Promise.resolve(handler(record))), () => Effect.succeed(otherwise))

/** Fails as soon as the signal is aborted, with its reason, as other calls that take a signal do. */
const aborted = (signal: AbortSignal): Effect.Effect<never, unknown> =>
  Effect.callback<never, unknown>((resume) => {
    const fail = () => resume(Effect.fail(signal.reason))
    if (signal.aborted) return fail()
    signal.addEventListener("abort", fail, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", fail))
  })

/** Starts nimlet. The promise is rejected with `ClientClosed` when it does not start. */
export const startNimlet = ({ ui, ...options }: NimletOptions = {}): Promise<Nimlet> => {
  const scope = Effect.runSync(Scope.make())
  const asked = ui === undefined ? {} : {
    ui: {
      ...(ui.approve === undefined ? {} : { approve: handled<ApprovalRecord, Decision>(ui.approve, { decision: "deny" }) }),
      ...(ui.answer === undefined ? {} : { answer: handled<QuestionRecord, Answering>(ui.answer, { cancelled: true }) })
    }
  }
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  const face = (client: NimletClient): Nimlet => ({
    prompt: (message, { signal } = {}) =>
      signal === undefined ? Effect.runPromise(client.prompt(message)) : Effect.runPromise(Effect.raceFirst(client.prompt(message), aborted(signal))),
    steer: (message) => Effect.runPromise(client.steer(message)),
    followUp: (message) => Effect.runPromise(client.followUp(message)),
    interrupt: () => Effect.runPromise(client.interrupt),
    request: (type, body) => Effect.runPromise(client.request(type, body)),
    onRecord: (listener) => {
      const fiber = Effect.runSync(Scope.provide(
        Effect.forkScoped(Stream.runForEach(client.records, (record) => Effect.sync(() => listener(record))), { startImmediately: true }),
        scope
      ))
      return () => void Effect.runFork(Fiber.interrupt(fiber))
    },
    ended: Effect.runPromise(client.ended),
    close,
    [Symbol.asyncDispose]: close
  })
  return Effect.runPromise(Scope.provide(startClient({ ...options, ...asked }), scope).pipe(
    Effect.map(face),
    Effect.onError(() => Scope.close(scope, Exit.void))
  ))
}
