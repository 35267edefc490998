/** The types of tools that `@bastani/atomic` exports (seed 004, "Tool Definition", "Built-in tool implementations"). */
export type { BashSpawnContext, BashToolDetails } from "./tools/BashTool.ts"
export type { EditToolDetails } from "./tools/EditTool.ts"
export type { FindToolDetails } from "./tools/FindTool.ts"
export type { GrepToolDetails } from "./tools/GrepTool.ts"
export type { LsToolDetails } from "./tools/LsTool.ts"
export type { BashOperations, EditOperations, FindOperations, GrepOperations, LsOperations, ReadOperations, WriteOperations } from "./tools/Operations.ts"
export type { ReadToolDetails } from "./tools/ReadTool.ts"
export type { TruncationResult } from "./Truncation.ts"

/** How a tool wants its arguments sampled; `false` opts out. */
export type ConstrainedSamplingConfig =
  | { readonly type: "json_schema"; readonly strict: "prefer" | "require" }
  | { readonly type: "grammar"; readonly variants: { readonly openai_lark?: string; readonly openai_regex?: string } }
