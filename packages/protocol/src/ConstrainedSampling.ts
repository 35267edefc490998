/** How a tool wants its arguments sampled (seed 004, "Constrained sampling"), and how that travels as JSON. */
import { Option, Schema } from "effect"

/**
 * `false` opts out and comes to the same as nothing. `json_schema` asks that arguments are held to the schema while they are
 * sampled: `prefer` lives without, `require` does not. `grammar` asks for a tool whose text follows a grammar of OpenAI's.
 */
export const ConstrainedSampling = Schema.Union([
  Schema.Literal(false),
  Schema.Struct({ type: Schema.Literal("json_schema"), strict: Schema.Literals(["prefer", "require"]) }),
  Schema.Struct({
    type: Schema.Literal("grammar"),
    variants: Schema.Struct({ openai_lark: Schema.optionalKey(Schema.String), openai_regex: Schema.optionalKey(Schema.String) })
  })
])
/** How a tool wants its arguments sampled. */
export type ConstrainedSampling = typeof ConstrainedSampling.Type

/**
 * The same as JSON, which cannot tell an absent key from one that is there and undefined: absent altogether, `undefined`,
 * or `set` with the `value` as given.
 */
export const Sampling = Schema.Struct({ state: Schema.Literals(["undefined", "set"]), value: Schema.optionalKey(Schema.Unknown) })
/** How a tool wants its arguments sampled, as JSON. */
export type Sampling = typeof Sampling.Type

const decode = Schema.decodeUnknownOption(ConstrainedSampling)

/** The key of a tool's definition as it was there: absent, undefined, or set; a value that is no such wish is left out. */
export const samplingKey = (sampling: Sampling | undefined): { readonly constrainedSampling?: ConstrainedSampling | undefined } =>
  sampling === undefined ? {} : sampling.state === "undefined" ? { constrainedSampling: undefined } : Option.match(decode(sampling.value), {
    onNone: () => ({}),
    onSome: (constrainedSampling) => ({ constrainedSampling })
  })
