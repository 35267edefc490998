/** The questions of RPC mode: each is a record for the client, who answers it by its `request_id`, in any order. */
import { Deferred, Effect, Result } from "effect"
import type { Answer, Approval, ApprovalRequest, Confirmation, FrontendShape } from "@nimlet/extension"
import { headless } from "@nimlet/extension"
import type { RpcCommand, UiRecord } from "@nimlet/protocol"

/** What answers a question. */
export type Reply = Extract<RpcCommand, { readonly type: "approve" | "answer" }>

/** Who shows a question. `approval` says that a call of a tool waits for `approve`. */
export interface Asking {
  readonly attended: () => boolean
  readonly record: (record: UiRecord) => Effect.Effect<void>
  readonly approval: (requestId: string, request: ApprovalRequest) => Effect.Effect<void>
}

/** The open questions of a client. */
export interface RpcQuestions {
  readonly frontend: Pick<FrontendShape, "approve" | "confirm" | "editor" | "input" | "question">
  /** Gives a reply to its question, or says why it is none. */
  readonly reply: (reply: Reply) => Effect.Effect<string | undefined>
  /** Nobody will answer any more: everything that is open is cancelled. */
  readonly abandon: Effect.Effect<void>
}

interface Open {
  readonly take: (reply: Reply) => string | undefined
  readonly cancel: () => void
}

const cancelled = { cancelled: true } as const

const fail = (problem: string) => Result.fail(problem)

const toApproval = ({ canRemember, project = false }: ApprovalRequest) => (reply: Reply): Result.Result<Approval, string> => {
  if (reply.type !== "approve") return fail("This request wants approve.")
  const { decision, reason } = reply
  if (decision === "deny") return Result.succeed({ decision, reason: reason ?? "denied by the client" })
  const offered = ["once", ...(canRemember ? ["session"] : []), ...(canRemember && project ? ["project"] : [])]
  return offered.includes(decision) ? Result.succeed({ decision }) : fail(`decision must be one of: ${[...offered, "deny"].join(", ")}`)
}

const toAnswer = (options: ReadonlyArray<string>) => (reply: Reply): Result.Result<Answer, string> => {
  if (reply.type !== "answer") return fail("This request wants answer.")
  if (reply.cancelled === true) return Result.succeed(cancelled)
  if (reply.answer === undefined) return fail("answer requires answer or cancelled.")
  if (options.length > 0 && !options.includes(reply.answer)) return fail(`answer must be one of: ${options.join(", ")}`)
  return Result.succeed({ cancelled: false, answer: reply.answer })
}

const toConfirmation = (reply: Reply): Result.Result<Confirmation, string> => {
  if (reply.type !== "answer") return fail("This request wants answer.")
  if (reply.cancelled === true) return Result.succeed(cancelled)
  return reply.confirmed === undefined ? fail("answer requires confirmed or cancelled.") : Result.succeed({ cancelled: false, confirmed: reply.confirmed })
}

/** Questions to a client; none is open. */
export const makeRpcQuestions = ({ approval, attended, record }: Asking): RpcQuestions => {
  const open = new Map<string, Open>()
  let count = 0

  /** Shows a question and waits for its answer: a person may take any time. Giving it up withdraws it. */
  const ask = <A>(show: (id: string) => Effect.Effect<void>, read: (reply: Reply) => Result.Result<A, string>, given_up: A): Effect.Effect<A> =>
    Effect.suspend(() => {
      const id = `ui-${++count}`
      const answer = Deferred.makeUnsafe<A>()
      open.set(id, {
        take: (reply) => {
          const got = read(reply)
          if (Result.isFailure(got)) return got.failure
          open.delete(id)
          Deferred.doneUnsafe(answer, Effect.succeed(got.success))
          return undefined
        },
        cancel: () => Deferred.doneUnsafe(answer, Effect.succeed(given_up))
      })
      return show(id).pipe(
        Effect.andThen(Deferred.await(answer)),
        Effect.onInterrupt(() => record({ version: 1, type: "ui_request", request_id: id, method: "withdraw" })),
        Effect.ensuring(Effect.sync(() => open.delete(id)))
      )
    })

  const request = (method: "question" | "confirm" | "input" | "editor", rest: Partial<Extract<UiRecord, { readonly type: "ui_request" }>>) => (request_id: string) =>
    record({ version: 1, type: "ui_request", request_id, method, ...rest })

  return {
    frontend: {
      question: (asked) => attended() ? ask(request("question", asked), toAnswer(asked.options), cancelled) : headless.question(asked),
      confirm: (asked) => attended() ? ask(request("confirm", asked), toConfirmation, cancelled) : headless.confirm(asked),
      input: (asked) => attended() ? ask(request("input", asked), toAnswer([]), cancelled) : headless.input(asked),
      editor: (asked) => attended() ? ask(request("editor", asked), toAnswer([]), cancelled) : headless.editor(asked),
      approve: (asked) =>
        attended()
          ? ask((id) => approval(id, asked), toApproval(asked), { decision: "deny", reason: "nobody answered: the client has gone" })
          : headless.approve(asked)
    },
    reply: (reply) => Effect.sync(() => {
      const question = open.get(reply.request_id)
      return question === undefined ? `No request '${reply.request_id}' is open.` : question.take(reply)
    }),
    abandon: Effect.sync(() => {
      for (const { cancel } of open.values()) cancel()
      open.clear()
    })
  }
}
