/** How the built-in `ask_user` reaches the person in front: through the frontend, as questions of extensions do. */
import { Effect, Layer } from "effect"
import { Frontend } from "@nimlet/extension"
import { Asker, type UserAnswer } from "@nimlet/tools"

/** Asks the frontend that is in force where the tool runs; without a person there, questions are unavailable. */
export const layerAsker: Layer.Layer<Asker> = Layer.succeed(Asker, {
  ask: Effect.fnUntraced(function*(question): Effect.fn.Return<UserAnswer> {
    const frontend = yield* Frontend
    if (!frontend.interactive) return { outcome: "unavailable" }
    const reply = yield* frontend.question({ asker: "ask_user", ...question })
    return reply.cancelled ? { outcome: "dismissed" } : { outcome: "answered", answer: reply.answer }
  })
})
