/** Calls two built-in tools in the current folder, without a model: `node packages/tools/examples/look-around.ts`. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer } from "effect"
import { grepTool, layerLocal, lsTool } from "@nimlet/tools"

const context = { output: () => Effect.void }

const program = Effect.gen(function*() {
  for (const result of [yield* lsTool.run({}, context), yield* grepTool.run({ pattern: "Effect", max_matches: 3 }, context)]) {
    for (const part of result.content) if (part.type === "text") yield* Console.log(part.text)
  }
})

const tools = layerLocal({ workspace: "." }).pipe(Layer.provide(NodeServices.layer))

Effect.runPromise(program.pipe(Effect.provide(tools)))
