/**
 * What V8 is told. New things are put into a part of its heap that doubles again and again while much is made that stays, and keeps
 * that size: a third of all memory then. Small things that come and go need no more than it has when a run begins. And whatever
 * runs some thousand times is compiled once more, at length, beside the program: what a long session needs for its first request
 * is over before that is done.
 *
 * A flag has its price: Node's own modules, and ours in the compile cache, are kept in a compiled form that holds only for the flags
 * it was made under. What is loaded under others is compiled anew, a fifth of the time that a short run takes. So flags are
 * set while nothing is loaded.
 */
import { Effect } from "effect"

/** A session file of so many bytes is long. */
const longSession = 4 * 1024 * 1024

const tell = (...flags: ReadonlyArray<string>) => Effect.sync(() => {
  const { setFlagsFromString } = process.getBuiltinModule("node:v8")
  for (const flag of flags) setFlagsFromString(flag)
})

const hold = tell("--semi-space-growth-factor=1")
const sprint = tell("--semi-space-growth-factor=1", "--no-turbofan")
const optimize = tell("--turbofan")

/** How long the first request of a long session may take. */
const firstRequest = "2 seconds"

/** Reads a session of so many bytes. After a long one the heap stays held: its growth would cost more than what is loaded later. */
export const reading = <A, E, R>(bytes: number, read: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  bytes < longSession ? read : Effect.andThen(sprint, Effect.ensuring(read, optimize))

/** For the rest of a run, from when all is loaded that it needs, beside a session of so many bytes. */
export const loaded = (bytes: number): Effect.Effect<void> =>
  bytes < longSession ? hold : sprint.pipe(Effect.andThen(Effect.sleep(firstRequest)), Effect.andThen(optimize))
