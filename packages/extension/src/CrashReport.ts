/** Supervisor events → the few sentences a person should read. */
import { Cause, Effect, PubSub } from "effect"
import type { SupervisorEvent } from "@nimlet/actor"
import { ExtensionCrashed } from "./ExtensionError.ts"

/** A run of crashes is told once, until the extension has been well for this long. */
const quietMillis = 60_000

const howOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return error instanceof ExtensionCrashed ? error.reason : `failed: ${Cause.pretty(cause)}`
}

/** What to say about an event, given what was said before; one reporter serves one session. */
export const crashReporter = () => {
  const lastCrash = new Map<string, { readonly at: number; readonly how: string }>()
  const toldAt = new Map<string, number>()
  return (event: SupervisorEvent): string | undefined => {
    const last = lastCrash.get(event.child)
    switch (event._tag) {
      case "Crashed":
        lastCrash.set(event.child, { at: event.at, how: howOf(event.cause) })
        return undefined
      case "Restarting": {
        const told = toldAt.get(event.child)
        toldAt.set(event.child, event.at)
        if (told !== undefined && event.at - told < quietMillis) return undefined
        return `extension '${event.child}' ${last?.how ?? "ended"}; restarting it`
      }
      case "Quarantined":
        return `extension '${event.child}' ${last?.how ?? "ended"} too often and stays off until it is restarted by hand`
      case "Stopped":
        return last !== undefined && event.exit._tag === "Failure" && Cause.squash(event.exit.cause) instanceof ExtensionCrashed
          ? `extension '${event.child}' ${last.how} and is not restarted`
          : undefined
      default:
        return undefined
    }
  }
}

/** Says what the events mean, for as long as it runs. */
export const reportCrashes = (
  events: PubSub.Subscription<SupervisorEvent>,
  warn: (message: string, extension: string) => Effect.Effect<void>
): Effect.Effect<never> => {
  const report = crashReporter()
  return Effect.forever(Effect.flatMap(PubSub.take(events), (event) => {
    const message = report(event)
    return message === undefined ? Effect.void : warn(message, event.child)
  }))
}
