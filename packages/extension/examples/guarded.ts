/** Starts the extensions of this machine's user and asks them about a call: `node packages/extension/examples/guarded.ts`. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer } from "effect"
import { Diagnostics, Extensions, Hooks, rootsOf } from "@nimlet/extension"

const { HOME: home = "/", PATH = "" } = process.env
const workspace = process.cwd()

const program = Effect.gen(function*() {
  const extensions = yield* Extensions
  const hooks = yield* Hooks
  const report = yield* extensions.start({
    roots: rootsOf({ home, workspace, trusted: false }),
    paths: process.argv.slice(2),
    workspace,
    sessionId: "example",
    trusted: false,
    mode: "print",
    logs: `${home}/.nimlet/logs`,
    environment: { PATH, HOME: home },
    reservedTools: ["bash"]
  })
  yield* Console.log(report, yield* extensions.tools)
  const outcome = yield* hooks.run("tool_call", { tool: "bash", arguments: { command: "curl example.org" } })
  yield* Console.log(outcome._tag === "Blocked" ? `blocked: ${outcome.reason}` : outcome.payload.arguments)
})

const live = Hooks.layer.pipe(Layer.provideMerge(Extensions.layer), Layer.provide(NodeServices.layer))

program.pipe(
  Effect.provideService(Diagnostics, ({ message }) => Console.error(message)),
  Effect.provide(live),
  Effect.runPromise
)
