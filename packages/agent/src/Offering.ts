/** The tools that are offered at a moment: built in, of `tool.json` files, of extensions, as the mode and the command line leave them. */
import { Effect } from "effect"
import type { CallFailed, Extensions, ExtensionTool, ToolReply } from "@nimlet/extension"
import { textOf } from "@nimlet/protocol"
import { errorResult, Output } from "@nimlet/tools"
import { type Mode, offersTool, withheldText } from "./Modes.ts"
import { type OfferedTool, toolSet, type ToolSet } from "./ToolSet.ts"

/** Where tools come from, each looked at when tools are wanted. */
export interface OfferingOptions {
  readonly extensions: Extensions["Service"]
  /** The built-in tools, and those of `tool.json` files. The same list as before stands for the same tools. */
  readonly own: () => ReadonlyArray<OfferedTool>
  readonly mode: () => Mode
  /** Whether an extension lets a tool be offered; another function where that has changed. Absent for all. */
  readonly isActive?: () => ((name: string) => boolean) | undefined
  /** The only tools to offer, by name in any case; absent for all. */
  readonly only?: ReadonlyArray<string>
}

/** What the model reads of a call that got no answer: who gave none, and after how long. */
const failureOf = ({ extension, message, seconds }: CallFailed): string =>
  seconds === undefined ? message : `${message}: '${extension}' gave no answer within ${seconds} s`

/** What an extension gave back, with as much text as a model is given of any tool: its beginning and its end. */
const bounded = (reply: ToolReply): ToolReply => {
  const text = textOf(reply.content)
  const kept = Output.boundMiddle(text, Output.modelLimits).text
  return kept === text ? reply : { ...reply, content: [{ type: "text", text: kept }, ...reply.content.filter((part) => part.type !== "text")] }
}

const runnable = (extensions: Extensions["Service"], { capabilities, description, extension, inputSchema, name, unasked }: ExtensionTool): OfferedTool => ({
  extension,
  unasked,
  tool: {
    name,
    description,
    inputSchema,
    capabilities,
    run: (args, context) =>
      extensions.callTool(name, args, context.output, context.callId).pipe(
        Effect.map(bounded),
        Effect.catch((error) => Effect.succeed(errorResult(failureOf(error))))
      )
  }
})

const isSame = (some: ReadonlyArray<ExtensionTool>, others: ReadonlyArray<ExtensionTool>): boolean =>
  some.length === others.length &&
  some.every((tool, index) =>
    tool.name === others[index]?.name && tool.extension === others[index].extension && tool.inputSchema === others[index].inputSchema)

/** The tools of the next step. They are made anew only when something changed: providers remember what they said of a tool. */
export const makeOffering = ({ extensions, isActive = () => undefined, mode, only, own }: OfferingOptions): Effect.Effect<ToolSet> => {
  let made: { readonly registered: ReadonlyArray<ExtensionTool>; readonly own: ReadonlyArray<OfferedTool>; readonly mode: Mode; readonly active: unknown; readonly set: ToolSet } | undefined
  return Effect.map(extensions.tools, (registered) => {
    const [present, ours, active] = [mode(), own(), isActive()]
    if (made !== undefined && made.own === ours && made.mode === present && made.active === active && isSame(registered, made.registered)) return made.set
    const all = [...ours, ...registered.map((tool) => runnable(extensions, tool))]
    const set = toolSet(all, { ...(only === undefined ? {} : { only }), offers: (one) => offersTool(present, one), isActive: active, withheld: withheldText(present) })
    made = { registered, own: ours, mode: present, active, set }
    return set
  })
}
