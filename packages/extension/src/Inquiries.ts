/** What one life of an extension asks of us and has not had answered: bounded, and withdrawn when nobody needs it. */
import { Effect, type Fiber, type Scope, Semaphore } from "effect"
import type { HostMessage, JsonObject } from "@nimlet/protocol"
import type { Stopwatch } from "@nimlet/actor"
import type { Companion } from "./Companion.ts"
import type { Conversation } from "./Conversation.ts"
import { answerHost, cancelledHost, overcrowdedHost } from "./HostRequests.ts"
import type { Losses } from "./Losses.ts"
import { OnBehalfOf } from "./OnBehalfOf.ts"
import { answerUi, cancelledUi } from "./UiRequests.ts"

/** Questions one extension may have open; policy `reject`: more are cancelled at once. They queue in the frontend. */
export const maxOpenQuestions = 16
/** Host requests one extension may have open, one served and the rest waiting; policy `reject`: more are errors at once. */
export const maxOpenHostRequests = 16

/** What inquiries need of the life they belong to. */
export interface InquiriesOptions {
  readonly key: string
  /** Held while any is open. */
  readonly stopwatch: Stopwatch
  readonly send: (message: HostMessage) => Effect.Effect<unknown>
  /** The host's requests that are open. */
  readonly conversation: Conversation
  readonly companion?: Companion | undefined
  readonly losses: Losses
}

const unasked = { one: "1 question was cancelled", several: "questions were cancelled", why: `${maxOpenQuestions} of its questions were open` }
const unserved = { one: "1 host request was refused", several: "host requests were refused", why: `${maxOpenHostRequests} of them were open` }

interface Inquiry {
  /** The host's requests on whose behalf it may be asked: those open when it came. */
  readonly owners: Set<string>
  /** One of them was given up. */
  orphaned: boolean
  fiber: Fiber.Fiber<unknown> | undefined
}

/** The open `ui_request`s and `host_request`s of one life. */
export class Inquiries {
  readonly #options: InquiriesOptions
  readonly #open = new Set<Inquiry>()
  readonly #turn: Semaphore.Semaphore
  readonly #questionsById = new Map<string, Inquiry>()
  #questions = 0
  #hostRequests = 0

  /** None is open. */
  constructor(options: InquiriesOptions) {
    this.#options = options
    this.#turn = Semaphore.makeUnsafe(options.companion?.servedAtOnce ?? 1)
  }

  /** Withdraws a question that the extension no longer wants answered; one that is not open is none of its. */
  withdraw(id: string): void {
    this.#questionsById.get(id)?.fiber?.interruptUnsafe()
  }

  /** Takes a question; it is answered sooner or later, unless the life ends before. Returns at once. */
  question(id: string, line: JsonObject): Effect.Effect<unknown, never, Scope.Scope> {
    const { key, losses, send } = this.#options
    if (this.#questions >= maxOpenQuestions) return Effect.andThen(losses.lost(unasked), send(cancelledUi(id, line)))
    this.#questions++
    return Effect.map(
      this.#serve(answerUi(key, id, line), cancelledUi(id, line), () => {
        this.#questions--
        this.#questionsById.delete(id)
      }),
      (inquiry) => {
        if (this.#open.has(inquiry)) this.#questionsById.set(id, inquiry)
      }
    )
  }

  /** Takes a host request; those of one extension are served one after another. Returns at once. */
  hostRequest(id: string, line: JsonObject): Effect.Effect<unknown, never, Scope.Scope> {
    const { conversation, key, losses, send } = this.#options
    if (this.#hostRequests >= maxOpenHostRequests) return Effect.andThen(losses.lost(unserved), send(overcrowdedHost(id)))
    this.#hostRequests++
    const answer = this.#turn.withPermits(1)(answerHost(key, id, line, this.#options.companion)).pipe(
      Effect.provideService(OnBehalfOf, new Set([...conversation.onBehalfOf, key]))
    )
    return this.#serve(answer, cancelledHost(id), () => this.#hostRequests--)
  }

  /**
   * A request of the host is over. What was asked while it was open is withdrawn once all such requests are over and
   * one of them was given up: whoever wanted the answer is gone.
   */
  requestOver(id: string, how: "answered" | "given up"): void {
    if (this.#open.size === 0) return
    for (const inquiry of [...this.#open]) {
      if (!inquiry.owners.delete(id)) continue
      if (how === "given up") inquiry.orphaned = true
      if (inquiry.orphaned && inquiry.owners.size === 0) inquiry.fiber?.interruptUnsafe()
    }
  }

  #serve(answer: Effect.Effect<HostMessage>, withdrawn: HostMessage, over: () => void): Effect.Effect<Inquiry, never, Scope.Scope> {
    const { conversation, send, stopwatch } = this.#options
    const inquiry: Inquiry = { owners: new Set(conversation.openIds), orphaned: false, fiber: undefined }
    this.#open.add(inquiry)
    const served = stopwatch.hold(answer).pipe(
      Effect.onInterrupt(() => send(withdrawn)),
      Effect.flatMap(send),
      Effect.ensuring(Effect.sync(() => {
        this.#open.delete(inquiry)
        over()
      })),
      Effect.forkScoped({ startImmediately: true })
    )
    return Effect.map(served, (fiber) => {
      inquiry.fiber = fiber
      return inquiry
    })
  }
}
