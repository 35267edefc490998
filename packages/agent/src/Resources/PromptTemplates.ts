/** Prompt templates: markdown files that are slash commands (seed 000, "Discovery order"). */
import { Effect, Option, Path } from "effect"
import { sheetOf } from "./FrontMatter.ts"
import { lastOfEach, pathsIn, type ResourceRoot, textIn } from "./ResourceFile.ts"

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
 * Empty and too large files are none.
 */
export const loadTemplates = Effect.fnUntraced(function*(roots: ReadonlyArray<ResourceRoot>, named: ReadonlyArray<string> = []) {
  const path = yield* Path.Path
  const files = yield* Effect.forEach([...roots.map((root) => root.path), ...named], pathsIn, { concurrency: "unbounded" })
  const templates = yield* Effect.forEach([...files.flat(), ...named].filter((file) => file.endsWith(".md")), (file) =>
    Effect.map(textIn(file, mostBytes), Option.map((text): PromptTemplate => {
      const { body, fields } = sheetOf(text)
      return { name: path.basename(file, ".md"), description: fields.get("description") ?? "", body: body.trim() }
    })), { concurrency: 16 })
  return lastOfEach(templates.flatMap((template) => Option.toArray(template)).filter(({ body }) => body !== ""))
})

/** Words as a shell would part them: quotes keep spaces, nothing else is special. */
const wordsOf = (args: string): ReadonlyArray<string> =>
  [...args.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ""))

/** A template with its arguments: `$ARGUMENTS` and `$@` are all of them as typed, `$1` to `$9` single words. Pure. */
export const expandTemplate = ({ body }: PromptTemplate, args: string): string => {
  const words = wordsOf(args)
  return body.replaceAll(/\$(?:ARGUMENTS|@|([1-9]))/g, (_, digit?: string) => digit === undefined ? args : words[Number(digit) - 1] ?? "")
}
