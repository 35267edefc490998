import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer } from "effect"
import { Sessions } from "@nimlet/session"

const program = Effect.scoped(Effect.gen(function*() {
  const session = yield* (yield* Sessions).create({ workspace: process.cwd(), persist: false })
  yield* session.append({ type: "user", role: "user", content: [{ type: "text", text: "hello" }] })
  yield* Console.log(yield* session.entries)
}))

const sessions = Layer.provide(Sessions.layer("/tmp/sessions"), NodeServices.layer)
Effect.runPromise(Effect.provide(program, sessions))
