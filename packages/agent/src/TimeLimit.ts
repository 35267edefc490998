/**
 * Work in one go that others' text decides the length of: a pattern that backtracks, markup a thousand levels deep. While
 * it runs nothing else does, no key and no signal, so that only the engine's own watchdog, which Node offers for scripts, can end it.
 */
import { Result } from "effect"
import nodeProcess from "node:process"
import vm from "node:vm"

/** Why there is no result: the time was up, or the work threw, as when it goes deeper than the stack. */
export type Unfinished = "late" | "broken"

const begin = new vm.Script("work()")
let place: vm.Context | undefined

const once = <A>(millis: number, work: () => A): Result.Result<A, Unfinished> => {
  place ??= vm.createContext({})
  let value: Result.Result<A, Unfinished> = Result.fail("late")
  place.work = () => {
    value = Result.succeed(work())
  }
  // A foreign edge: the engine tells of the cut by throwing, an error of that other place.
  try {
    begin.runInContext(place, { timeout: millis })
    return value
  } catch (cause) {
    return Result.fail(typeof cause === "object" && cause !== null && "code" in cause && cause.code === "ERR_SCRIPT_EXECUTION_TIMEOUT" ? "late" : "broken")
  } finally {
    place.work = undefined
  }
}

/** How much longer than asked for the work may be tried where the machine has no time for us. */
const patience = 8

/**
 * What `work` gives, if it is done in so many milliseconds. It is cut off anywhere, without its own `finally`, and may be
 * begun again where the machine was busy with something else: it must change nothing that is used afterwards.
 */
export const withinMillis = <A>(millis: number, work: () => A): Result.Result<A, Unfinished> => {
  for (let limit = millis;; limit *= 2) {
    const before = nodeProcess.cpuUsage()
    const done = once(limit, work)
    if (Result.isSuccess(done) || done.failure === "broken" || limit >= millis * patience) return done
    const { system, user } = nodeProcess.cpuUsage(before)
    if ((system + user) / 1_000 >= millis / 2) return done
  }
}
