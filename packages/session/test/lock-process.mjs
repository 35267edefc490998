/**
 * Locks the session `path` again and again, as one of several processes: `node lock-process.mjs PATH TIMES`, or `die` to
 * be killed while it has the lock. Each time it has it, it writes whether it was alone.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { appendFileSync, rmdirSync, mkdirSync } from "node:fs"
import { lockSession } from "../src/index.ts"

const [, , path, times] = process.argv
const isAlive = (pid) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const once = Effect.scoped(Effect.gen(function*() {
  yield* lockSession(path, { pid: process.pid, isAlive })
  if (times === "die") process.kill(process.pid, "SIGKILL")
  try {
    mkdirSync(`${path}.alone`)
    appendFileSync(path, "alone\n")
    rmdirSync(`${path}.alone`)
  } catch {
    appendFileSync(path, "not alone\n")
  }
}))

let left = times === "die" ? 1 : Number(times)
await Effect.runPromise(
  Effect.repeat(
    Effect.catchTag(Effect.tap(once, () => Effect.sync(() => left--)), "SessionLocked", () => Effect.yieldNow),
    { until: () => left <= 0 }
  ).pipe(Effect.provide(NodeServices.layer))
)
