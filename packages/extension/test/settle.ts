import { Effect } from "effect"

/** Lets fibers that hand messages to each other come to rest; the test clock does not. */
export const settle = Effect.repeat(Effect.yieldNow, { times: 200 })
