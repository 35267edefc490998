/** Supervisor events → the few sentences a person should read. */
import { Cause, Effect, PubSub } from "effect"
import type { SupervisorEvent } from "@nimlet/actor"
import { ExtensionCrashed, ExtensionMute, StartFailed } from "./ExtensionError.ts"

/** A run of crashes is told once, until the extension has been well for this long. */
const quietMillis = 60_000

const howOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return error instanceof ExtensionCrashed ? error.reason : `failed: ${Cause.pretty(cause)}`
}

/** So is what left requests unanswered, by whoever asked. */
const isMute = (cause: Cause.Cause<unknown>) => Cause.squash(cause) instanceof ExtensionMute

/** A failed start is told by whoever started it. */
const isStartFailure = (cause: Cause.Cause<unknown>) => Cause.squash(cause) instanceof StartFailed

/** What to say about an event, given what was said before; one reporter serves one session. */
export const crashReporter = () => {
  const last = new Map<string, { readonly at: number; readonly how: string; readonly isMute: boolean }>()
  return (event: SupervisorEvent): string | undefined => {
    const before = last.get(event.child)
    if (event._tag === "Crashed") {
      const how = howOf(event.cause)
      last.set(event.child, { at: event.at, how, isMute: isMute(event.cause) })
      const known = before !== undefined && event.at - before.at < quietMillis
      return known || isStartFailure(event.cause) || isMute(event.cause) ? undefined : `extension '${event.child}' ${how} unexpectedly`
    }
    return event._tag === "Quarantined" && before?.isMute !== true
      ? `extension '${event.child}' ${before?.how ?? "ended"} too often and stays off until it is restarted by hand`
      : undefined
  }
}

/** Says what the events mean, for as long as it runs; `seen` is called for each. */
export const reportCrashes = (
  events: PubSub.Subscription<SupervisorEvent>,
  warn: (message: string, extension: string) => Effect.Effect<void>,
  seen: () => void
): Effect.Effect<never> => {
  const report = crashReporter()
  return Effect.forever(Effect.flatMap(PubSub.take(events), (event) => {
    seen()
    const message = report(event)
    return message === undefined ? Effect.void : warn(message, event.child)
  }))
}
