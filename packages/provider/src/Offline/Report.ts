/** What the offline model says about the results of its calls. Pure. */
import { type Step, understood } from "./Grammar.ts"

/** The result of one call, as the model sees it. */
export interface Outcome {
  readonly text: string
  readonly failed: boolean
}

const SHOWN = 60

const shorten = (text: string, lines = SHOWN): string => {
  const all = text.trimEnd().split("\n")
  return all.length <= lines ? all.join("\n") : `${all.slice(0, lines).join("\n")}\n… and ${all.length - lines} lines more`
}

interface ReadText {
  readonly path: string
  readonly lines: ReadonlyArray<string>
  readonly from: number
  readonly total: number
}

/** The text of a `read` result, out of its header and line numbers; any other text is taken as it is. */
export const parseRead = (text: string, path: string): ReadText => {
  const blank = text.indexOf("\n\n")
  const range = blank === -1 ? null : /^lines: (\d+)-(\d+) of (\d+)$/m.exec(text.slice(0, blank))
  if (range === null) {
    const lines = text.split("\n")
    return { path, lines, from: 1, total: lines.length }
  }
  const lines = text.slice(blank + 2).trimEnd().split("\n").map((line) => line.replace(/^ *\d+ \| ?/, ""))
  return { path, lines, from: Number(range[1]), total: Number(range[3]) }
}

/** The headings of a Markdown text, in order; those inside fenced code do not count. */
export const headings = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const found: Array<string> = []
  let fence: string | undefined
  for (const [index, line] of lines.entries()) {
    const mark = /^ {0,3}(```|~~~)/.exec(line)?.[1]
    if (mark !== undefined) {
      fence = fence === undefined ? mark : fence === mark ? undefined : fence
      continue
    }
    if (fence !== undefined) continue
    const heading = /^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$/.exec(line)?.[1] ?? /<h1[^>]*>\s*(.*?)\s*<\/h1>/i.exec(line)?.[1]
    if (heading !== undefined && heading !== "") found.push(heading)
    else if (line.trim() !== "" && /^ {0,3}(=+|-{2,})\s*$/.test(lines[index + 1] ?? "")) found.push(line.trim())
  }
  return found
}

const partly = (read: ReadText): string =>
  read.lines.length < read.total ? ` in the lines I read (${read.from}-${read.from + read.lines.length - 1} of ${read.total})` : ""

const firstHeading = (read: ReadText): string => {
  const [first] = headings(read.lines)
  return first === undefined ? `${read.path} has no heading${partly(read)}.` : `The first heading of ${read.path} is “${first}”.`
}

const outline = (read: ReadText): string => {
  const found = headings(read.lines)
  const begins = read.lines.find((line) => line.trim() !== "" && !/^ {0,3}#/.test(line))?.trim()
  return [
    `${read.path} has ${read.total} lines. I cannot summarize as a real model would; this is its outline${partly(read)}:`,
    ...(found.length === 0 ? ["(no headings)"] : found.slice(0, 20).map((heading) => `- ${heading}`)),
    ...(begins === undefined ? [] : [`It begins: “${begins.slice(0, 200)}”`])
  ].join("\n")
}

/** The line above what came back. */
const title = (step: Step): string => {
  switch (step.tool) {
    case "ls":
      return step.args["path"] === "." ? "The files here" : `The files in ${String(step.args["path"])}`
    case "glob":
    case "grep":
      return `What I found when asked to ${step.says}`
    case "bash":
      return `\`${String(step.args["command"])}\` gave`
    case "git":
      return `git ${String(step.args["operation"])}`
    default:
      return `\`${step.tool}\` gave`
  }
}

const shown = (step: Step, text: string): string => {
  switch (step.tool) {
    case "read": {
      const read = parseRead(text, String(step.args["path"]))
      const last = read.from + read.lines.length - 1
      return `${read.path}, lines ${read.from}-${last} of ${read.total}:\n\n${shorten(read.lines.join("\n"))}`
    }
    case "write":
    case "edit":
      return `Done: ${step.says}.\n${shorten(text, 5)}`
    default:
      return `${title(step)}:\n\n${text.trim() === "" ? "(nothing came back)" : shorten(text)}`
  }
}

/** What came of one step. */
const report = (step: Step, { failed, text }: Outcome): string => {
  if (failed) return `I tried to ${step.says}, and it failed:\n\n${shorten(text, 20)}`
  const { follow } = step
  switch (follow?._tag) {
    case undefined:
      return shown(step, text)
    case "Beyond":
      return `${shown(step, text)}\n\nBut I cannot “${follow.words}”: offline I follow fixed rules and do not write or judge.`
    case "FirstHeading":
      return firstHeading(parseRead(text, String(step.args["path"])))
    case "LineCount": {
      const { path, total } = parseRead(text, String(step.args["path"]))
      return `${path} has ${total} line${total === 1 ? "" : "s"}.`
    }
    case "Summary":
      return outline(parseRead(text, String(step.args["path"])))
  }
}

/**
 * The final answer: what came of each step done, and, when the chain stopped early, what was left undone.
 * `missing` is the tool that the next step needed and this run does not offer.
 */
export const finalAnswer = (steps: ReadonlyArray<Step>, outcomes: ReadonlyArray<Outcome>, missing?: string): string => {
  const done = outcomes.map((outcome, index) => {
    const step = steps[index]
    return step === undefined ? outcome.text : report(step, outcome)
  })
  const left = steps.slice(outcomes.length)
  const lacking = missing === undefined ? [] : [`To ${left[0]?.says ?? missing} I need the tool \`${missing}\`, which this run does not offer.`]
  const undone = missing === undefined ? left : left.slice(1)
  return [
    ...done,
    ...lacking,
    ...(undone.length === 0 ? [] : [`I stopped there and did not ${undone.map((step) => step.says).join(", nor ")}.`])
  ].join("\n\n")
}

/** The answer to a prompt that no rule fits. */
export const helpText = (clause: string): string =>
  [
    clause === "" ? "I am offline and act only on what is typed as the prompt." : `I am offline and follow fixed rules; I do not understand “${clause.slice(0, 200)}”.`,
    "I understand:",
    ...understood.map((line) => `- ${line}`),
    "",
    "With a real model you can ask anything: set ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENROUTER_API_KEY."
  ].join("\n")
