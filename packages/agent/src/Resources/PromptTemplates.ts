/** Prompt templates: markdown files that are slash commands (seed 000, "Discovery order"). */
import { Effect, Option, Path, Result } from "effect"
import { sheetOf } from "./FrontMatter.ts"
import { about, lastOfEach, pathsIn, type ResourceRoot, sheetIn } from "./ResourceFile.ts"

/** A template by the name it is called by, without the slash. */
export interface PromptTemplate {
  readonly name: string
  readonly description: string
  readonly body: string
}

/** Where templates lie, in the home folder and in a workspace. */
export const promptRoots = { own: [".agents/prompts", ".nimlet/prompts"], project: [".agent/prompts", ".agents/prompts", ".nimlet/prompts"] } as const

const mostBytes = 100_000

/**
 * The templates in these roots, and those that extensions named: files, or folders with files. Of two with one name the later.
 * A sentence for each that is wrong or left out: empty and too large files, and what is no text.
 */
export const loadTemplates = Effect.fnUntraced(function*(roots: ReadonlyArray<ResourceRoot>, named: ReadonlyArray<string> = []) {
  const path = yield* Path.Path
  const files = yield* Effect.forEach([...roots.map((root) => root.path), ...named], pathsIn, { concurrency: "unbounded" })
  const found = yield* Effect.forEach([...files.flat(), ...named].filter((file) => file.endsWith(".md")), (file) =>
    Effect.map(sheetIn(file, mostBytes), Option.map(Result.match({
      onFailure: (fault) => ({ templates: [], warnings: about(file, [fault]) }),
      onSuccess: (text) => {
        const { body, faults, fields } = sheetOf(text)
        const template: PromptTemplate = { name: path.basename(file, ".md"), description: fields.get("description") ?? "", body: body.trim() }
        return template.body === ""
          ? { templates: [], warnings: about(file, [...faults, "has no text; write what is to be asked, or take it away"]) }
          : { templates: [template], warnings: about(file, faults) }
      }
    }))), { concurrency: 16 })
  const there = found.flatMap(Option.toArray)
  return { templates: lastOfEach(there.flatMap(({ templates }): ReadonlyArray<PromptTemplate> => templates)), warnings: there.flatMap(({ warnings }) => warnings) }
})

/** Words as a shell would part them: quotes keep spaces, nothing else is special. */
const wordsOf = (args: string): ReadonlyArray<string> =>
  [...args.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ""))

/** A template with its arguments: `$ARGUMENTS` and `$@` are all of them as typed, `$1` to `$9` single words. Pure. */
export const expandTemplate = ({ body }: PromptTemplate, args: string): string => {
  const words = wordsOf(args)
  return body.replaceAll(/\$(?:ARGUMENTS|@|([1-9]))/g, (_, digit?: string) => digit === undefined ? args : words[Number(digit) - 1] ?? "")
}
