/** The tools that are offered at a moment: built in, of `tool.json` files, of extensions, as the mode and the command line leave them. */
import { Effect } from "effect"
import type { CallFailed, Extensions, ExtensionTool, ToolReply } from "@nimlet/extension"
import { samplingKey, textOf } from "@nimlet/protocol"
import { errorResult, type Files, Output } from "@nimlet/tools"
import type { ActiveTools } from "./ActiveTools.ts"
import { type Mode, offersTool, withheldText } from "./Modes.ts"
import { type OfferedTool, toolSet, type ToolSet } from "./ToolSet.ts"

/** Where tools come from, each looked at when tools are wanted. */
export interface OfferingOptions {
  readonly extensions: Extensions["Service"]
  /** The built-in tools, and those of `tool.json` files. The same list as before stands for the same tools. */
  readonly own: () => ReadonlyArray<OfferedTool>
  readonly mode: () => Mode
  /** The only tools to offer, by name in any case; absent for all. */
  readonly only?: ReadonlyArray<string>
  readonly active: ActiveTools
  /** Where results that are too long for a model are kept whole; absent where they are not. */
  readonly files?: Files
}

/** What is on offer. */
export interface Offering {
  /** The tools of the next step. */
  readonly tools: Effect.Effect<ToolSet>
  /** All tools that the command line leaves, whether they are offered or not, as they were when they were last looked at. */
  readonly known: () => ReadonlyArray<OfferedTool>
}

const switchedOff = "Tool unavailable: an extension has switched it off for now."

/** What the model reads of a call that got no answer: who gave none, and after how long. */
const failureOf = ({ extension, message, seconds }: CallFailed): string =>
  seconds === undefined ? message : `${message}: '${extension}' gave no answer within ${seconds} s`

/** How much text of a tool's a model is given: as much as of any, less where the tool says so, all where it wants that. */
const limitsOf = ({ extras }: ExtensionTool): Output.Limits | undefined => {
  const wanted = extras?.max_result_chars
  if (wanted === "unlimited") return undefined
  return wanted === undefined ? Output.modelLimits : { ...Output.modelLimits, maxBytes: Math.min(Output.modelLimits.maxBytes, wanted) }
}

/** Keeps a text whole in a file outside the workspace; gives a word for the model about where it is. */
const keepWhole = (files: Files, name: string, text: string): Effect.Effect<string> =>
  files.spill(name).pipe(
    Effect.tap(({ append }) => append(new TextEncoder().encode(text))),
    Effect.map(({ path }) => `\n[cut; all of it is in ${path}; look into it with bash]`),
    Effect.orElseSucceed(() => ""),
    Effect.scoped
  )

/** What an extension gave back, its text within limits: the beginning and the end of what is longer, and where the whole is. */
const bounded = Effect.fnUntraced(function*(reply: ToolReply, limits: Output.Limits | undefined, keep: (text: string) => Effect.Effect<string>) {
  if (limits === undefined) return reply
  const text = textOf(reply.content)
  const kept = Output.boundMiddle(text, limits).text
  if (kept === text) return reply
  const images = reply.content.filter((part) => part.type !== "text")
  return { ...reply, content: [{ type: "text" as const, text: kept + (yield* keep(text)) }, ...images] }
})

const runnable = (extensions: Extensions["Service"], files: Files | undefined, offer: ExtensionTool): OfferedTool => {
  const { capabilities, description, extension, extras = {}, inputSchema, name, parallel, unasked } = offer
  const { prepares, prompt_guidelines, prompt_snippet, structured_output } = extras
  const limits = limitsOf(offer)
  const keep = (text: string) => files === undefined ? Effect.succeed("") : keepWhole(files, name, text)
  return {
    extension,
    unasked,
    ...(parallel === undefined ? {} : { parallel }),
    ...(prompt_snippet === undefined ? {} : { snippet: prompt_snippet }),
    ...(prompt_guidelines === undefined ? {} : { guidelines: prompt_guidelines }),
    ...(prepares === true ? { prepare: (args: unknown) => extensions.prepare(name, args) } : {}),
    ...(structured_output === true ? { answers: true } : {}),
    tool: {
      name,
      description,
      inputSchema,
      capabilities,
      ...samplingKey(extras.constrained_sampling),
      run: (args, { callId, output }) =>
        extensions.callTool(name, args, output, callId).pipe(
          Effect.flatMap((reply) => bounded(reply, limits, keep)),
          Effect.catch((error) => Effect.succeed(errorResult(failureOf(error))))
        )
    }
  }
}

/** Whether the same offers are made: what an extension registers again is other objects. */
const isSame = (some: ReadonlyArray<ExtensionTool>, others: ReadonlyArray<ExtensionTool>): boolean =>
  some.length === others.length &&
  some.every((tool, index) =>
    tool.name === others[index]?.name && tool.extension === others[index].extension && tool.inputSchema === others[index].inputSchema)

/** What a set of tools was made of, each compared as the same object. */
interface Made {
  readonly registered: ReadonlyArray<ExtensionTool>
  readonly own: ReadonlyArray<OfferedTool>
  readonly mode: Mode
  readonly withheld: ReadonlySet<string>
  readonly set: ToolSet
}

/** The tools of an agent. They are made anew only when something changed: providers remember what they said of a tool. */
export const makeOffering = ({ active, extensions, files, mode, only, own }: OfferingOptions): Offering => {
  let made: Made | undefined
  const tools = Effect.map(extensions.tools, (registered) => {
    const [present, ours, withheld] = [mode(), own(), active.withheld()]
    if (made !== undefined && made.own === ours && made.mode === present && made.withheld === withheld && isSame(registered, made.registered)) return made.set
    const all = [...ours, ...registered.map((tool) => runnable(extensions, files, tool))]
      .map((offered) => withheld.has(offered.tool.name) ? { ...offered, unavailable: switchedOff } : offered)
    const set = toolSet(all, { ...(only === undefined ? {} : { only }), offers: (one) => offersTool(present, one), withheld: withheldText(present) })
    made = { registered, own: ours, mode: present, withheld, set }
    return set
  })
  return { tools, known: () => made?.set.known.filter(({ unavailable }) => unavailable === undefined || unavailable === switchedOff) ?? [] }
}
