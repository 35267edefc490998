/** Tools of an extension: as an author writes one, and as it is served. */
import { Effect, Schema } from "effect"
import type { Capability, JsonObject, ToolContent, ToolExtras } from "@nimlet/protocol"
import type { ToolContext } from "./ExtensionContext.ts"
import { failedBy, type HandlerFailed, type Outcome } from "./Handler.ts"

/** What a tool takes: a schema of `effect`, whose decoded value `run` gets, or a JSON Schema of type object. */
export type ToolInput = Schema.ConstraintDecoder<unknown> | JsonObject

/** What `run` gets of an input. */
export type InputOf<S> = S extends Schema.ConstraintDecoder<infer A> ? A : JsonObject

/**
 * What a call gives the model: a text, or more. `details` is for people and programs alone; `terminate` ends the run when all
 * results of the step have it; `is_error` says that it failed, as throwing does.
 */
export type ToolOutput = string | {
  readonly content: string | ReadonlyArray<ToolContent>
  readonly details?: JsonObject
  readonly terminate?: boolean
  readonly is_error?: boolean
}

/** How a model's answers are to be held to the schema (seed 004, "Constrained sampling"). */
export type ConstrainedSampling =
  | false
  | { readonly type: "json_schema"; readonly strict: "prefer" | "require" }
  | { readonly type: "grammar"; readonly variants: { readonly openai_lark?: string; readonly openai_regex?: string } }

/** A tool for the model. */
export interface ToolDefinition<S extends ToolInput> {
  /** What the model reads of it. */
  readonly description: string
  readonly input: S
  /** What it does; one that only reads (`read`, `user`) is offered in plan mode and runs beside others. None: write, shell, network. */
  readonly capabilities?: ReadonlyArray<Capability>
  /** One line for the section on tools of the system prompt. */
  readonly snippet?: string
  /** What the model should heed while the tool is on offer; each names the tool. */
  readonly guidelines?: ReadonlyArray<string>
  readonly constrainedSampling?: ConstrainedSampling
  readonly run: (input: InputOf<S>, context: ToolContext) => Outcome<ToolOutput>
}

/** A tool as it is registered and called. */
export interface ServedTool {
  readonly name: string
  readonly description: string
  readonly schema: JsonObject
  readonly capabilities: ReadonlyArray<Capability>
  readonly extras: ToolExtras
  /** Decodes the arguments and gives what runs it with them. Fails with what the model is to read. */
  readonly call: (args: unknown, context: ToolContext) => Effect.Effect<() => Outcome<ToolOutput>, HandlerFailed>
}

/** With `additionalProperties: false`, which providers need to hold a model to it. */
const schemaOf = (schema: Schema.ConstraintDecoder<unknown>): JsonObject => {
  const { definitions, schema: root } = Schema.toJsonSchemaDocument(schema, { onExcessProperty: "error" })
  return Object.keys(definitions).length === 0 ? { ...root } : { ...root, $defs: definitions }
}

const isDecoder = (input: ToolInput): input is Schema.ConstraintDecoder<unknown> => Schema.isSchema(input)

const extrasOf = ({ capabilities = [], constrainedSampling, guidelines, snippet }: Omit<ToolDefinition<ToolInput>, "run">): ToolExtras => ({
  ...(snippet === undefined ? {} : { prompt_snippet: snippet }),
  ...(guidelines === undefined ? {} : { prompt_guidelines: guidelines }),
  ...(constrainedSampling === undefined ? {} : { constrained_sampling: { state: "set" as const, value: constrainedSampling } }),
  ...(capabilities.length > 0 && capabilities.every((each) => each === "read" || each === "user") ? {} : { sequential: true })
})

/** Closes a definition over its input's type. */
export const serveTool = <S extends ToolInput>(name: string, definition: ToolDefinition<S>): ServedTool => {
  const { capabilities = [], description, input, run } = definition
  const decode = isDecoder(input) ? Schema.decodeUnknownEffect(Schema.toCodecJson(input)) : undefined
  return {
    name,
    description,
    schema: isDecoder(input) ? schemaOf(input) : input,
    capabilities,
    extras: extrasOf(definition),
    // What was decoded by `input` is what `InputOf` says; the conditional type cannot be followed.
    call: (args, context) =>
      Effect.map(decode === undefined ? Effect.succeed(args) : Effect.mapError(decode(args), failedBy), (decoded) => () => run(decoded as InputOf<S>, context))
  }
}
