/** A failed model request in one line for a person: who failed, what happened, what helps. Pure. */
import { Duration, Predicate } from "effect"
import type * as AiError from "effect/ai/AiError"
import { retryAfterOf } from "./Retry.ts"

const oneLine = (text: string): string => text.trim().split("\n", 1)[0]?.slice(0, 300).toWellFormed() ?? ""

/** What the provider itself said, where it did. */
const saidBy = (reason: AiError.AiErrorReason): string => {
  if (Predicate.hasProperty(reason, "description") && typeof reason.description === "string") return oneLine(reason.description)
  const own = Predicate.hasProperty(reason, "metadata") && Predicate.hasProperty(reason.metadata, "nimlet") ? reason.metadata.nimlet : undefined
  return Predicate.hasProperty(own, "description") && typeof own.description === "string" ? oneLine(own.description) : ""
}

const wholeSeconds = (wait: Duration.Duration): Duration.Duration => Duration.seconds(Math.ceil(Duration.toSeconds(wait)))

const behind = (what: string, said: string): string => said === "" ? what : `${what}: ${said}`

/** The account of a failure, without a line break. Keys never stand in it. */
export const accountOf = (error: AiError.AiError): string => {
  const { module, reason } = error
  const said = saidBy(reason)
  const wait = retryAfterOf(error)
  switch (reason._tag) {
    case "AuthenticationError":
      return reason.kind === "InsufficientPermissions"
        ? behind(`${module} does not allow this with your key`, said)
        : behind(`${module} refused the key; check it in the environment or in ~/.nimlet/auth.json`, said)
    case "RateLimitError":
      return behind(`${module} takes no more requests for now${wait === undefined || Duration.isZero(wait) ? "" : `, try again in ${Duration.format(wholeSeconds(wait))}`}`, said)
    case "QuotaExhaustedError":
      return behind(`${module} says that the account's limit is reached`, said)
    case "InvalidRequestError":
      return behind(`${module} refused the request`, said)
    case "InternalProviderError":
      return behind(`${module} failed`, said)
    case "NetworkError":
      return behind(`${module} cannot be reached at ${reason.url}`, said)
    case "ContentPolicyError":
      return behind(`${module} refused the content`, said)
    case "InvalidOutputError":
      return behind(`${module} sent an answer that is not whole`, said)
    default:
      return behind(module, said === "" ? oneLine(reason.message) : said)
  }
}
