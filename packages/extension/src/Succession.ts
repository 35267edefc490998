/** One generation of a session's extensions follows another: what fails to start anew may leave the old one in its place. */
import { Effect } from "effect"
import type { Member } from "./Member.ts"
import type { RunningSession } from "./SessionStart.ts"
import type { StartReport } from "./Start.ts"

/** Those of a generation that stay until they are replaced, when the session `sessionId` is started anew. */
export const stayingIn = (old: RunningSession | undefined, sessionId: string): ReadonlyArray<Member> =>
  old?.sessionId === sessionId ? old.members.filter(({ family }) => family.staysUntilReplaced) : []

/** How long those that are replaced may take to hear of it, all at once. */
const farewell = "2 seconds"

/** Tells those that stayed, and are replaced now, that they end. */
const bid = (leaving: ReadonlyArray<Member>, place: { readonly session_id: string; readonly workspace: string }): Effect.Effect<void> => {
  const told = leaving.filter((member) => member.registration()?.events.includes("session_shutdown") === true)
  const payload = { ...place, reason: "reload" }
  return Effect.forEach(told, (member) => Effect.ignore(member.request({ type: "event", event: "session_shutdown", payload })), {
    concurrency: "unbounded",
    discard: true
  }).pipe(Effect.timeoutOption(farewell), Effect.asVoid)
}

/** Ends those that do not stay, all at once. */
export const retire = (old: RunningSession, staying: ReadonlyArray<Member>): Effect.Effect<void> =>
  Effect.forEach(old.members.filter((member) => !staying.includes(member)), ({ key }) => old.supervisor.stop(key), {
    concurrency: "unbounded",
    discard: true
  })

const isReady = (member: Member): Effect.Effect<boolean> =>
  Effect.map(member.isAlive, (alive) => alive && member.registration() !== undefined)

/**
 * What runs from now on: the new generation, and in place of each of its members that failed to start the old one of that
 * name, if it runs. The rest of the old generation is ended.
 */
export const succeed = Effect.fnUntraced(function*(
  old: RunningSession,
  staying: ReadonlyArray<Member>,
  next: RunningSession,
  report: StartReport,
  workspace: string
) {
  const failed = (key: string) =>
    next.members.some((member) => member.key === key && member.isSettled() && member.registration() === undefined)
  const kept = yield* Effect.filter(staying.filter(({ key }) => failed(key)), isReady)
  yield* bid(staying.filter((member) => !kept.includes(member)), { session_id: old.sessionId, workspace })
  yield* retire(old, kept)
  if (kept.length === 0) {
    yield* old.stop
    return { session: next, report }
  }
  const members = next.members.map((member) => kept.find(({ key }) => key === member.key) ?? member)
  const session: RunningSession = {
    ...next,
    members,
    kept,
    stop: Effect.andThen(Effect.all([next.stop, old.stop], { concurrency: "unbounded" }), Effect.void)
  }
  const whole: StartReport = {
    ...report,
    started: members.filter((member) => member.registration() !== undefined).map(({ key }) => key),
    warnings: [...report.warnings, ...kept.map(({ key }) => `extension '${key}' goes on as it was`)]
  }
  return { session, report: whole }
})
