/** Tools of `effect/ai`, said in the AI SDK's terms, with what a provider makes of their wishes. Pure. */
import { Predicate, Result } from "effect"
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Tool from "effect/ai/Tool"
import type { ModelCompat } from "../ModelInfo.ts"
import { type Grammar, grammarOf, samplingOf } from "../Sampling.ts"
import type { AiTool, AiToolChoice } from "./Model.ts"
import { type Strictness, strictFit } from "./Strict.ts"

/** What a provider's interface makes of tools, and a model of it. */
export interface ToolStyle {
  /** The special tools the model takes; default none. */
  readonly compat?: ModelCompat
  /** What strict tools of this interface may be; absent where it has none. */
  readonly strictness?: Strictness
  /** Makes a tool with a grammar; absent where the interface has none. */
  readonly grammarTool?: (name: string, description: string, grammar: Grammar) => AiTool
}

/** Tools as they are sent. */
export interface SaidTools {
  readonly tools: Array<AiTool>
  /** Name of a tool with a grammar → the property that what it writes becomes. */
  readonly grammars: ReadonlyMap<string, string>
}

/** A schema as providers want it: `type: "object"` and `properties` are there even when an author left them out. */
const inputSchema = (schema: object): object => ({ type: "object", properties: {}, ...schema })

type FunctionTool = Extract<AiTool, { type: "function" }>

const functionTool = (source: Tool.Any): FunctionTool => {
  const description = Tool.getDescription(source)
  const strict = Tool.getStrictMode(source)
  return {
    type: "function",
    name: source.name,
    inputSchema: inputSchema(Tool.getJsonSchema(source)),
    ...(description === undefined ? {} : { description }),
    ...(strict === undefined ? {} : { strict })
  }
}

/** The one required property of an object's schema, when it is a text. */
const soleText = (schema: object): string | undefined => {
  const { properties, required, type } = schema as { readonly properties?: Readonly<Record<string, unknown>>; readonly required?: unknown; readonly type?: unknown }
  const only: unknown = Array.isArray(required) && required.length === 1 ? required[0] : undefined
  if (type !== "object" || typeof only !== "string" || properties === undefined || !Object.hasOwn(properties, only)) return undefined
  return Predicate.hasProperty(properties[only], "type") && properties[only].type === "string" ? only : undefined
}

/** Gives each tool that wants it a strict schema, those that insist first, as far as the provider goes. */
const withStrict = (sources: ReadonlyArray<Tool.Any>, said: ReadonlyArray<FunctionTool>, { compat, strictness }: ToolStyle): Result.Result<ReadonlySet<string>, string> => {
  const strict = new Set<string>()
  let optional = 0
  const wishes = sources.flatMap((source, index) => {
    const sampling = samplingOf(source)
    const tool = said[index]
    return tool === undefined || sampling === undefined || sampling === false || sampling.type !== "json_schema" ? [] : [{ tool, insists: sampling.strict === "require" }]
  })
  const take = ({ inputSchema, name }: FunctionTool): string | undefined => {
    if (strictness === undefined || compat?.strictTools !== true) return "this model does not offer that"
    const fit = strictFit(inputSchema, strictness)
    if ("problem" in fit) return fit.problem
    if (strict.size >= strictness.tools || optional + fit.optional > strictness.optional) return "the request has too many such tools"
    strict.add(name)
    optional += fit.optional
    return undefined
  }
  for (const { insists, tool } of wishes.toSorted((one, other) => Number(other.insists) - Number(one.insists))) {
    const problem = take(tool)
    if (problem !== undefined && insists) return Result.fail(`tool '${tool.name}' requires arguments that are held to its schema: ${problem}`)
  }
  return Result.succeed(strict)
}

/**
 * Says tools in the AI SDK's form, JSON Schemas unchanged, and remembers what it said of a list. A provider's own tools
 * (`Tool.providerDefined`) are left out. Fails with a sentence when a tool requires what cannot be had.
 */
export const makeAiTools = (style: ToolStyle = {}): (tools: ReadonlyArray<Tool.Any>) => Result.Result<SaidTools, string> => {
  const { compat, grammarTool } = style
  const known = new WeakMap<Tool.Any, FunctionTool>()
  const plain = (source: Tool.Any): FunctionTool => {
    const said = known.get(source) ?? functionTool(source)
    known.set(source, said)
    return said
  }
  return (all) => {
    const sources = all.filter((one) => !Tool.isProviderDefined(one))
    const said = sources.map(plain)
    return Result.map(withStrict(sources, said, style), (strict) => {
      const grammars = new Map<string, string>()
      const tools = sources.map((source, index): AiTool => {
        const tool = said[index] ?? plain(source)
        const grammar = compat?.grammarTools === true ? grammarOf(samplingOf(source)) : undefined
        const property = grammar === undefined ? undefined : soleText(tool.inputSchema)
        if (grammarTool !== undefined && grammar !== undefined && property !== undefined) {
          grammars.set(tool.name, property)
          return grammarTool(tool.name, tool.description ?? "", grammar)
        }
        return strict.has(tool.name) ? { ...tool, strict: true } : tool
      })
      return { tools, grammars }
    })
  }
}

/** The tool choice in the AI SDK's form. `oneOf` has already narrowed the tools. */
export const toAiToolChoice = (choice: LanguageModel.ToolChoice<string>): AiToolChoice => {
  if (typeof choice === "string") return { type: choice }
  if ("tool" in choice) return { type: "tool", toolName: choice.tool }
  return { type: choice.mode ?? "auto" }
}
