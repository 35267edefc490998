import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer } from "effect"
import { Agent, EventSink, systemPrompt } from "@nimlet/agent"
import { Extensions, Hooks } from "@nimlet/extension"
import { Models } from "@nimlet/provider"
import { Sessions } from "@nimlet/session"
import { builtins, layerLocal, localTools } from "@nimlet/tools"

const program = Effect.gen(function*() {
  const workspace = process.cwd()
  const session = yield* (yield* Sessions).create({ workspace, persist: false })
  const { info, layer: model } = yield* (yield* Models).resolve({ provider: "offline" })
  const tools = yield* localTools(builtins())
  const agent = Agent.layer({ session, ...info, system: systemPrompt({ workspace, platform: process.platform }), tools })
  const result = yield* Effect.flatMap(Agent, (agent) => agent.prompt({ typed: "list the files here" })).pipe(
    Effect.provide(Layer.provide(agent, model))
  )
  yield* Console.log(result.text)
}).pipe(
  Effect.scoped,
  Effect.provideService(EventSink, { publish: (event) => Console.error(event.type) })
)

const services = Layer.mergeAll(
  Layer.provideMerge(Hooks.layer, Extensions.layer),
  Sessions.layer("/tmp/sessions"),
  Models.layer({ environment: {}, home: "/tmp" }),
  layerLocal({ workspace: process.cwd() })
).pipe(Layer.provide(NodeServices.layer))

Effect.runPromise(Effect.provide(program, services))
