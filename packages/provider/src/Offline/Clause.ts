/** One plain request, such as `read README.md lines 1-5`, as the tool call it asks for. Pure. */
import { Predicate, Result } from "effect"

/** What is to be done with a result beyond showing it. `Beyond` is what fixed rules cannot do. */
export type Follow =
  | { readonly _tag: "FirstHeading" }
  | { readonly _tag: "LineCount" }
  | { readonly _tag: "Summary" }
  | { readonly _tag: "Beyond"; readonly words: string }

/** One tool call and what to say about it. */
export interface Step {
  readonly tool: string
  readonly args: { readonly [name: string]: unknown }
  /** What it does, as an infinitive: `read README.md`. */
  readonly says: string
  readonly follow?: Follow
  /** Some of it was taken as free text to its end; a reading that splits it further is to be preferred. */
  readonly loose?: boolean
}

type Groups = { readonly [name: string]: string | undefined }
interface Rule {
  readonly pattern: RegExp
  readonly step: (groups: Groups) => Step | undefined
}

const NAME = "\"[^\"]+\"|'[^']+'|`[^`]+`|[^\\s\"'`]+?"
const TEXT = "\"[^\"]*\"|'[^']*'|`[^`]*`|\\S|\\S[^]*?\\S"
const QUOTED = "\"[^\"]*\"|'[^']*'|`[^`]*`"
const END = "[.?!]*"
const AND = "(?:,? (?:and|then|and then) (?<rest>[^]+?))?"

/** A pattern for a whole clause; a blank in it is any white space. */
const rule = (source: string, step: Rule["step"]): Rule => ({
  pattern: new RegExp(`^${source.replaceAll(" ", "\\s+")}$`, "i"),
  step
})

const isQuoted = (text: string): boolean => text.length >= 2 && /^(["'`])[^]*\1$/.test(text)
const unquote = (text: string): string => isQuoted(text) ? text.slice(1, -1) : text
/** Quoted content may say `\n` for a line break; bare content is taken as it stands. */
const content = (text: string): string => isQuoted(text) ? text.slice(1, -1).replaceAll("\\n", "\n") : text
const escape = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")
const isPath = (text: string): boolean => isQuoted(text) || /[./]/.test(text) || /^(readme|makefile|license|dockerfile|changelog)$/i.test(text)

const follow = (rest: string | undefined): Pick<Step, "follow"> => {
  if (rest === undefined || /^(?:show|print|display|give|tell)(?: me)? (?:it|that|the (?:content|contents|text))$/i.test(rest)) return {}
  if (/\b(?:heading|title|headline)\b/i.test(rest)) return { follow: { _tag: "FirstHeading" } }
  if (/\bhow many lines\b|\b(?:count|number of)\b.*\blines\b/i.test(rest)) return { follow: { _tag: "LineCount" } }
  if (/\bsummar(?:y|i[sz]e)\b/i.test(rest)) return { follow: { _tag: "Summary" } }
  return { follow: { _tag: "Beyond", words: rest } }
}

const ls = (name: string | undefined): Step => {
  const path = name === undefined ? "." : unquote(name)
  return { tool: "ls", args: { path }, says: path === "." ? "list the files here" : `list the files in ${path}` }
}

const glob = (name: string): Step => {
  const pattern = unquote(name)
  return { tool: "glob", args: { pattern: pattern.includes("/") ? pattern : `**/${pattern}` }, says: `find files named ${pattern}` }
}

const read = (name: string, from?: string, to?: string): Step => {
  const path = unquote(name)
  if (from === undefined) return { tool: "read", args: { path }, says: `read ${path}` }
  const [start, end] = [Number(from), Number(to ?? from)]
  return { tool: "read", args: { path, start_line: start, end_line: end }, says: `read ${path}, lines ${start} to ${end}` }
}

const grep = (text: string, where: string | undefined, isPattern: boolean): Step | undefined => {
  if (text.startsWith("-")) return undefined
  const words = unquote(text)
  const place = where === undefined ? {} : unquote(where).includes("*") ? { glob: unquote(where) } : { path: unquote(where) }
  return {
    tool: "grep",
    args: { pattern: isPattern ? words : escape(words), ...place },
    says: `search for “${words}”${where === undefined ? "" : ` in ${unquote(where)}`}`,
    loose: !isQuoted(text)
  }
}

const write = (name: string, text: string, overwrite: boolean): Step => {
  const path = unquote(name)
  return { tool: "write", args: { path, content: content(text), ...(overwrite ? { overwrite } : {}) }, says: `write ${path}` }
}

const bash = (text: string): Step => {
  const command = isQuoted(text) && text.startsWith("`") ? text.slice(1, -1) : unquote(text)
  return { tool: "bash", args: { command }, says: `run \`${command}\``, loose: !isQuoted(text) }
}

const git = (operation: string, rest?: string): Step => {
  const key = operation === "show" ? "commit" : "path"
  return {
    tool: "git",
    args: { operation, ...(rest === undefined ? {} : { [key]: unquote(rest) }) },
    says: `look at git ${operation}${rest === undefined ? "" : ` ${unquote(rest)}`}`
  }
}

const call = (tool: string, json: string | undefined): Step | undefined => {
  const args = json === undefined ? {} : parseObject(json)
  return args === undefined ? undefined : { tool, args, says: `call ${tool}` }
}

const parseObject = (text: string): Step["args"] | undefined => {
  const parsed = Result.try(() => JSON.parse(text) as unknown)
  return Result.isSuccess(parsed) && Predicate.isObject(parsed.success) && !Array.isArray(parsed.success)
    ? parsed.success as Step["args"]
    : undefined
}

const FILES = "(?:files?|folders?|directory|directories|contents?|entries)(?: (?:and|or) (?:files|folders|directories))?"
const HERE = "(?: here)?(?: (?:in|of|under|inside) (?:(?:the|this|my) )?(?:(?:current|working) )?(?:here|folder|directory|project|repo|repository))?"
const SHOW = "(?:list|show|display|print|give|see)(?: me)?(?: (?:all|the|my|of))*"
const LINES = "(?:from )?lines? (?<from>\\d+)(?:\\s*(?:-|–|\\.\\.|to|through|and)\\s*(?<to>\\d+))?"

const rules: ReadonlyArray<Rule> = [
  rule(`call(?: the)?(?: tool)? (?<tool>[\\w.-]+)(?: with)?\\s*(?<json>\\{[^]*\\})`, (g) => call(g["tool"] ?? "", g["json"])),
  rule(`call(?: the)? tool (?<tool>[\\w.-]+)`, (g) => call(g["tool"] ?? "", undefined)),
  // git, before `show` and `run`
  rule(`(?:(?:show|get|print|run)(?: me)?(?: the)? )?git (?<op>status|log|diff|show|blame)(?: (?<path>${NAME}))?${END}`, (g) => git(g["op"]?.toLowerCase() ?? "", g["path"])),
  rule(`(?:show|what is|what's)(?: me)?(?: the)? (?:diff|changes)${END}`, () => git("diff")),
  rule(`what(?: has|'s)? changed${END}`, () => git("status")),
  // listing
  rule(`${SHOW} ${FILES}${HERE}${END}`, () => ls(undefined)),
  rule(`${SHOW} ${FILES} (?:in|of|under|inside|from)(?: the)?(?: folder| directory)? (?<path>${NAME})(?: folder| directory)?${END}`, (g) => ls(g["path"])),
  rule(`(?:what|which) files (?:are|do (?:we|i|you) have)(?: there)?${HERE}${END}`, () => ls(undefined)),
  rule(`(?:what|which) files are(?: there)? in (?<path>${NAME})${END}`, (g) => ls(g["path"])),
  rule(`(?:find|list|show)(?: me)?(?: all)?(?: the)?(?: files?)?(?: (?:named|called|matching|like))? (?<path>[^\\s"'\`]*[*][^\\s"'\`]*?)(?: files)?${END}`, (g) => glob(g["path"] ?? "")),
  rule(`(?:find|list)(?: me)?(?: all)?(?: the)?(?: an?)? files? (?:named|called|matching|like) (?<path>${NAME})${END}`, (g) => glob(g["path"] ?? "")),
  rule(`ls(?: (?<path>${NAME}))?`, (g) => g["path"]?.startsWith("-") === true ? undefined : ls(g["path"])),
  rule(`list (?<path>${NAME})${END}`, (g) => ls(g["path"])),
  // questions about a file
  rule(`(?:(?:tell|give|show) me |what is |what's )*(?:the )?(?:(?:first|main|top) )?(?:heading|title|headline) (?:of|in) (?<path>${NAME})${END}`, (g) => ({ ...read(g["path"] ?? ""), follow: { _tag: "FirstHeading" } })),
  rule(`(?:tell me )?how many lines (?:are(?: there)? in|does) (?<path>${NAME})(?: have)?${END}`, (g) => ({ ...read(g["path"] ?? ""), follow: { _tag: "LineCount" } })),
  rule(`count(?: the)? lines (?:of|in) (?<path>${NAME})${END}`, (g) => ({ ...read(g["path"] ?? ""), follow: { _tag: "LineCount" } })),
  rule(`(?:summari[sz]e|give me a summary of)(?: the)?(?: file)? (?<path>${NAME})${END}`, (g) => ({ ...read(g["path"] ?? ""), follow: { _tag: "Summary" } })),
  rule(`what (?:does|is in|is inside) (?<path>${NAME})(?: say)?${END}`, (g) => isPath(g["path"] ?? "") ? read(g["path"] ?? "") : undefined),
  // reading
  rule(`(?:read|show|print|display)(?: me)?(?: the)? first (?<to>\\d+) lines (?:of|from|in) (?<path>${NAME})${END}${AND}${END}`, (g) => ({ ...read(g["path"] ?? "", "1", g["to"]), ...follow(g["rest"]) })),
  rule(`(?:read|show|print|display)(?: me)?(?: the)? ${LINES} (?:of|from|in) (?<path>${NAME})${END}${AND}${END}`, (g) => ({ ...read(g["path"] ?? "", g["from"], g["to"]), ...follow(g["rest"]) })),
  rule(`(?<verb>read|cat|open|view|show|print|display)(?: me)?(?: the)?(?: contents? of)?(?: the)?(?: file)? (?<path>${NAME})(?:,? ${LINES})?${AND}${END}`, (g) =>
    /^(?:read|cat)$/i.test(g["verb"] ?? "") || isPath(g["path"] ?? "")
      ? { ...read(g["path"] ?? "", g["from"], g["to"]), ...follow(g["rest"]) }
      : undefined),
  // changing
  rule(`replace (?<old>${TEXT}) (?:with|by) (?<new>${TEXT}) in(?: the)?(?: file)? (?<path>${NAME})${END}`, (g) => ({
    tool: "edit",
    args: { path: unquote(g["path"] ?? ""), old_text: content(g["old"] ?? ""), new_text: content(g["new"] ?? "") },
    says: `replace “${unquote(g["old"] ?? "")}” in ${unquote(g["path"] ?? "")}`
  })),
  rule(`(?:write|put|save) (?<text>${QUOTED}) (?:to|into|in)(?: the)?(?: file)? (?<path>${NAME})${END}`, (g) => write(g["path"] ?? "", g["text"] ?? "", false)),
  rule(`(?<verb>write|create|make|save|overwrite)(?: an?)?(?: new)?(?: text)?(?: file)?(?: (?:called|named))? (?<path>${NAME}),? (?:with|containing|saying)(?: the)?(?: (?:text|contents?|line|words))?:? (?<text>[^]*)`, (g) => write(g["path"] ?? "", g["text"] ?? "", /^overwrite$/i.test(g["verb"] ?? ""))),
  rule(`(?:create|make|touch)(?: an?)?(?: new)?(?: empty)?(?: text)?(?: file)?(?: (?:called|named))? (?<path>${NAME})${END}`, (g) => isPath(g["path"] ?? "") ? write(g["path"] ?? "", "", false) : undefined),
  // running
  rule(`(?:run|execute)(?: the)?(?: shell)?(?: command)?:? (?<text>\`[^\`]+\`)${AND}${END}`, (g) => ({ ...bash(g["text"] ?? ""), ...follow(g["rest"]) })),
  rule(`(?:run|execute)(?: the)?(?: shell)?(?: command)?:? (?<text>[^]+)`, (g) => bash(g["text"] ?? "")),
  // searching, last: its text can be anything
  rule(`(?<verb>grep|rg|search|find|look)(?: for)?(?: the)?(?: (?:text|word|string|phrase|pattern))? (?<text>${TEXT})(?: in (?:(?:all|the|any|this|my) )*(?:files|project|code|repo|repository|folder|directory|here))?${END}`, (g) => inPlace(g)),
  rule(`where (?:is|are) (?<text>${TEXT})(?: (?:used|defined|mentioned|called))?(?: in (?<path>${NAME}))?${END}`, (g) => grep(g["text"] ?? "", g["path"], false))
]

/** `TEXT in PLACE`, if the text ends so and the place looks like a path; else all of it is the text. */
const inPlace = (groups: Groups): Step | undefined => {
  const text = groups["text"] ?? ""
  const isPattern = /^(?:grep|rg)$/i.test(groups["verb"] ?? "")
  const placed = new RegExp(`^(?<text>${TEXT})\\s+(?:in|inside|within|under)\\s+(?:the\\s+)?(?:file\\s+|folder\\s+|directory\\s+)?(?<path>${NAME})$`, "i").exec(text)?.groups
  return placed === undefined ? grep(text, undefined, isPattern) : grep(placed["text"] ?? "", placed["path"], isPattern)
}

const POLITE = /^(?:please|hey|hi|hello|ok|okay|now|first|also|can you|could you|would you|will you|i want you to|i would like you to|i'd like you to|let's|and|,)[,\s]+/i
const THANKS = /[,\s]+(?:please|thanks|thank you)[.!?]*$/i

/** The step a clause asks for, or `undefined` when no rule fits it whole. */
export const readClause = (clause: string): Step | undefined => {
  let text = clause.trim()
  while (POLITE.test(text)) text = text.replace(POLITE, "")
  text = text.replace(THANKS, "")
  for (const { pattern, step } of rules) {
    const match = pattern.exec(text)
    const found = match === null ? undefined : step(match.groups ?? {})
    if (found !== undefined) return found
  }
  return undefined
}
