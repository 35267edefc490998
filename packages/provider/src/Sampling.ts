/**
 * How a tool wants its arguments sampled (seed 004, "Constrained sampling"): a hint to the provider, that never changes a
 * schema. `false` and nothing at all come to the same.
 */
import { Context } from "effect"
import * as Tool from "effect/ai/Tool"

/**
 * - `json_schema`: held to the schema while they are sampled, where that can be had; with `require` a request without is
 *   not made.
 * - `grammar`: written by a grammar of OpenAI's in place of JSON; Lark wins where both variants are given. The schema must
 *   be an object whose one required property is a text; else, or where a model takes none, it is an ordinary tool.
 */
export type ToolSampling =
  | false
  | { readonly type: "json_schema"; readonly strict: "prefer" | "require" }
  | { readonly type: "grammar"; readonly variants: { readonly openai_lark?: string; readonly openai_regex?: string } }

const Sampling: Context.Reference<ToolSampling | undefined> = Context.Reference("@nimlet/provider/Sampling", {
  defaultValue: (): ToolSampling | undefined => undefined
})

/** The same tool, with its wish. */
export const withSampling = <T extends Tool.Any>(tool: T, sampling: ToolSampling | undefined): T =>
  sampling === undefined ? tool : tool.annotate(Sampling, sampling) as T

/** What a tool wishes. */
export const samplingOf = (tool: Tool.Any): ToolSampling | undefined => Context.get(tool.annotations, Sampling)

/** A grammar as OpenAI takes it. */
export interface Grammar {
  readonly syntax: "lark" | "regex"
  readonly definition: string
}

/** The grammar a tool wishes for; none where no variant says anything. */
export const grammarOf = (sampling: ToolSampling | undefined): Grammar | undefined => {
  if (sampling === undefined || sampling === false || sampling.type !== "grammar") return undefined
  const { openai_lark = "", openai_regex = "" } = sampling.variants
  if (openai_lark !== "") return { syntax: "lark", definition: openai_lark }
  return openai_regex === "" ? undefined : { syntax: "regex", definition: openai_regex }
}
