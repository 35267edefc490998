/** The built-in tools in their fixed order, so that the model's cached prefix stays the same from run to run. */
import { Effect } from "effect"
import { bashTool } from "./BashTool.ts"
import type { BashOptions } from "./BashTool.ts"
import { editTool } from "./EditTool.ts"
import { gitTool } from "./GitTool.ts"
import { globTool } from "./GlobTool.ts"
import { grepTool } from "./GrepTool.ts"
import { lsTool } from "./LsTool.ts"
import type { Operations } from "./Operations.ts"
import { readTool } from "./ReadTool.ts"
import type { Tool } from "./Tool.ts"
import { writeTool } from "./WriteTool.ts"

/** What the caller decides for all of them; `env` is that of bash and git. */
export type BuiltinOptions = BashOptions

/** read, grep, glob, ls, edit, write, bash, git. */
export const builtins = (options: BuiltinOptions = {}): ReadonlyArray<Tool<Operations>> => [
  readTool,
  grepTool,
  globTool,
  lsTool,
  editTool,
  writeTool,
  bashTool(options),
  gitTool(options.env === undefined ? {} : { env: options.env })
]

/** Binds tools to the services in force, such as the machine: what comes back needs nothing more and can be given to an agent. */
export const localTools = <R>(tools: ReadonlyArray<Tool<R>>): Effect.Effect<ReadonlyArray<Tool>, never, R> =>
  Effect.map(Effect.context<R>(), (context) =>
    tools.map((tool) => ({
      ...tool,
      run: (args, call) => Effect.provideContext(tool.run(args, call), context)
    })))
