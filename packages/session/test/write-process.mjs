/**
 * Writes a session until it is killed or has written enough: `node write-process.mjs FOLDER COUNT`. Says on stdout, a line
 * each, the session's id, then the number of every entry that `append` has returned for, or why it failed.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer } from "effect"
import { writeSync } from "node:fs"
import { Sessions } from "../src/index.ts"

const [, , folder, count] = process.argv
const tell = (line) => Effect.sync(() => writeSync(1, `${line}\n`))

const program = Effect.scoped(Effect.gen(function*() {
  const session = yield* (yield* Sessions).create({ workspace: "/w", persist: true })
  yield* tell(session.id)
  for (let n = 0; n < Number(count); n++) {
    yield* session.append({ type: "user", role: "user", content: [{ type: "text", text: `${n} ${"ä".repeat(n % 700)}` }] }).pipe(
      Effect.matchEffect({ onSuccess: () => tell(n), onFailure: (error) => tell(`${error.cause} (${error.unsaved})`) })
    )
  }
}))

const sessions = Layer.provide(Sessions.layer(folder, { pid: process.pid, isAlive: () => true }), NodeServices.layer)
await Effect.runPromise(Effect.provide(program, sessions))
