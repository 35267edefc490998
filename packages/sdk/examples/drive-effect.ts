import { startClient } from "@nimlet/sdk"
import { Console, Effect } from "effect"

const program = Effect.gen(function*() {
  const nimlet = yield* startClient({
    args: ["--provider", "offline", "--no-session"],
    // With `ui`, the program is asked what a person would be asked.
    ui: { approve: ({ summary }) => Effect.succeed(summary === "echo hello" ? { decision: "once" } : { decision: "deny", reason: "only echo" }) }
  })
  const { text } = yield* nimlet.prompt("run `echo hello`")
  yield* Console.log(text)
  const { provider } = yield* nimlet.request("get_state", {})
  yield* Console.log(`answered by ${String(provider)}`)
})

Effect.runPromise(Effect.scoped(program))
