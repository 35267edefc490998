/** `read` that brings along what people wrote for agents in the folders of what it reads. */
import { Effect } from "effect"
import type { Tool } from "@nimlet/tools"
import { type ContextFile, contextText } from "./Resources/ContextFiles.ts"

/** The same tool; a successful `read` of `path` is followed by the instructions that `scoped` has for it. */
export const withScopedContext = (tool: Tool, scoped: (path: string) => Effect.Effect<ReadonlyArray<ContextFile>>): Tool =>
  tool.name !== "read" ? tool : {
    ...tool,
    run: Effect.fnUntraced(function*(args, context) {
      const result = yield* tool.run(args, context)
      const path = args["path"]
      if (result.isError || typeof path !== "string") return result
      const found = yield* scoped(path)
      if (found.length === 0) return result
      return { ...result, content: [...result.content, { type: "text", text: `\nInstructions for this folder:\n${found.map(contextText).join("\n")}` }] }
    })
  }
