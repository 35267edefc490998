/** From what was said to what the model is sent: a command, a template, a skill, or words with what they mention. */
import { Effect, Option } from "effect"
import type { Extensions } from "@nimlet/extension"
import type { ContentPart } from "@nimlet/protocol"
import { textOf } from "@nimlet/protocol"
import { builtinNamed, commandIn, type TypedCommand } from "./Commands.ts"
import { EventSink } from "./EventSink.ts"
import type { Origin } from "./Loop.ts"
import type { Mentioned } from "./Mentions.ts"
import type { Resources } from "./Resources.ts"
import { expandTemplate } from "./Resources/PromptTemplates.ts"
import { untypedText } from "./RunEvents.ts"

/**
 * What the user said: `typed` by hand, `piped` from another program or a file, `attached` to it. Only typed words can be a
 * command, and those of an extension, which are `literal`, cannot.
 */
export interface UserInput {
  readonly typed: string
  readonly piped?: string
  readonly literal?: boolean
  /** An extension's own message that the session has already: the model is to answer it. */
  readonly saved?: boolean
  /** Pictures and the like that go along with words. */
  readonly attached?: ReadonlyArray<ContentPart>
}

/** Where words come from, as extensions are told. */
export const originOf = ({ literal = false, saved = false }: UserInput, mode: string | undefined): Origin => ({
  saved,
  ...(literal ? { source: "extension" as const } : mode === "rpc" ? { source: "rpc" as const } : {})
})

/** What it comes to: a command to run, or what the model is sent. */
export type Meaning =
  | { readonly _tag: "Command"; readonly command: TypedCommand }
  | { readonly _tag: "Words"; readonly content: ReadonlyArray<ContentPart> }

/** What meaning depends on. */
export interface WordingOptions {
  readonly extensions: Extensions["Service"]
  readonly resources: () => Resources
  readonly mentions: (text: string) => Effect.Effect<Mentioned>
}

/** Finds out what was meant. */
export interface Wording {
  readonly meaning: (input: UserInput) => Effect.Effect<Meaning>
  /** Words, with what they mention. */
  readonly words: (text: string) => Effect.Effect<ReadonlyArray<ContentPart>>
}

const skillPrefix = "skill:"
const quiet = { output: () => Effect.void }

/** The wording of an agent. */
export const makeWording = ({ extensions, mentions, resources }: WordingOptions): Wording => {
  const mentioned = Effect.fnUntraced(function*(text: string) {
    const { content, warnings } = yield* mentions(text)
    const { publish } = yield* EventSink
    for (const message of warnings) yield* publish({ type: "diagnostic", level: "warning", message })
    return content
  })
  const words: Wording["words"] = (text) => Effect.map(mentioned(text), (found) => [{ type: "text", text }, ...found])

  /** The text of a template or a skill; none where the command is neither, or one of ours or of an extension comes first. */
  const expanded = Effect.fnUntraced(function*({ args, name }: TypedCommand) {
    const wanted = name.toLowerCase()
    const { builtins, skills, templates } = resources()
    const template = templates.find((one) => one.name.toLowerCase() === wanted)
    const skill = wanted.startsWith(skillPrefix) ? skills.find((one) => one.name.toLowerCase() === wanted.slice(skillPrefix.length)) : undefined
    if ((template === undefined && skill === undefined) || builtinNamed(name) !== undefined) return Option.none<string>()
    if ((yield* extensions.commands).some((command) => command.name.toLowerCase() === wanted)) return Option.none<string>()
    if (template !== undefined) return Option.some(expandTemplate(template, args))
    const reader = builtins.find((tool) => tool.name === "read_skill")
    if (reader === undefined) return Option.none<string>()
    const result = yield* reader.run({ name: skill?.name ?? "" }, quiet)
    return Option.some([textOf(result.content), args].filter((text) => text !== "").join("\n\n"))
  })

  return {
    words,
    meaning: Effect.fnUntraced(function*({ attached = [], literal = false, piped = "", typed }) {
      if (literal) return { _tag: "Words", content: [...(typed === "" && attached.length > 0 ? [] : [untypedText(typed)]), ...attached] } satisfies Meaning
      const command = piped === "" ? commandIn(typed) : undefined
      if (command !== undefined) {
        const text = yield* expanded(command)
        if (Option.isNone(text)) return { _tag: "Command", command } satisfies Meaning
        return { _tag: "Words", content: [untypedText(text.value), ...yield* mentioned(text.value), ...attached] } satisfies Meaning
      }
      return { _tag: "Words", content: [...(piped === "" ? [] : [untypedText(piped)]), ...(typed === "" ? [] : yield* words(typed)), ...attached] } satisfies Meaning
    })
  }
}
