import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect } from "effect"
import { Sessions } from "@nimlet/session"

const program = Effect.scoped(Effect.gen(function*() {
  const session = yield* (yield* Sessions).create({ workspace: process.cwd(), persist: false })
  yield* session.append({ type: "user", role: "user", content: [{ type: "text", text: "hello" }] })
  yield* Console.log(yield* session.entries)
}))

Effect.runPromise(program.pipe(Effect.provide(Sessions.layer("/tmp/sessions")), Effect.provide(NodeServices.layer)))
