/**
 * One prompt in a terminal: the answer streams, each tool call is a row, extensions' statuses and widgets are lines of
 * their own, and questions are asked on the spot.
 */
import { Effect, Option, Ref, Semaphore } from "effect"
import { type Answer, type Approval, type ApprovalRequest, headless, type Question, type WidgetView } from "@nimlet/extension"
import type { AgentEvent } from "@nimlet/protocol"
import type { Output } from "../Output.ts"
import type { Mode } from "./Mode.ts"

/** Styles of the rows around the answer; identity without colour. */
export interface Palette {
  readonly dim: (text: string) => string
  readonly red: (text: string) => string
  readonly yellow: (text: string) => string
}

/** A widget in plain lines. */
const linesOf = ({ content, title }: WidgetView): ReadonlyArray<string> => [
  ...(title === "" ? [] : [title]),
  ...content.flatMap((element) => {
    switch (element.type) {
      case "list":
        return element.items.map(({ state, text }) => `${state === "done" ? "[x]" : state === "active" ? "[>]" : "[ ]"} ${text}`)
      case "progress":
        return [`${element.label ?? ""} ${Math.round((element.value / element.max) * 100)}%`.trim()]
      default:
        return element.text.split("\n")
    }
  })
]

const paint = (code: number) => (text: string) => `\u001b[${code}m${text}\u001b[0m`
const plain = (text: string) => text

/** Colours, or none where the terminal or `NO_COLOR` does not want them. */
export const palette = (colours: boolean): Palette =>
  colours ? { dim: paint(2), red: paint(31), yellow: paint(33) } : { dim: plain, red: plain, yellow: plain }

/** What a call is about in one short line: its path, command or pattern, else its arguments. */
export const callSummary = (name: string, input: unknown): string => {
  const args = typeof input === "object" && input !== null ? input as { readonly [key: string]: unknown } : {}
  const telling = ["command", "path", "pattern", "operation"].flatMap((key) => typeof args[key] === "string" ? [args[key]] : [])
  const text = telling.length > 0 ? telling.join(" ") : JSON.stringify(input ?? {})
  const line = printable(text)
  return `${name} ${line.length > 100 ? `${line.slice(0, 99)}…` : line}`
}

/** Text from a model, a tool or an extension on one line, without control characters that would move the cursor. */
const printable = (text: string): string => text.replaceAll(/\s+/g, " ").replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "")

/** Control characters out, lines kept. */
const harmless = (text: string): string => text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "")

/** What text mode needs: where to write, how to read one line of an answer, and whether colours are wanted. */
export interface TextOptions {
  readonly output: Output["Service"]
  /** The next line the user types, none when they close the input. */
  readonly readLine: Effect.Effect<Option.Option<string>>
  readonly colours: boolean
}

/** Text mode. */
export const makeTextMode = Effect.fnUntraced(function*({ colours, output, readLine }: TextOptions): Effect.fn.Return<Mode> {
  const { dim, red, yellow } = palette(colours)
  // Whether the cursor stands behind streamed text, so that a row must start on a new line.
  const midLine = yield* Ref.make(false)
  const oneAtATime = yield* Semaphore.make(1)

  const row = (text: string) =>
    Effect.flatMap(Ref.getAndSet(midLine, false), (mid) => output.out(`${mid ? "\n" : ""}${text}\n`))
  const stream = (text: string) => Effect.andThen(Ref.set(midLine, !text.endsWith("\n")), output.out(harmless(text)))

  const publish = (event: AgentEvent): Effect.Effect<void> => {
    switch (event.type) {
      case "message_delta":
        return stream(event.delta)
      case "message":
        return event.role === "assistant" && event.model === undefined ? row(harmless(event.content)) : Effect.void
      case "tool_call":
        return row(dim(`· ${callSummary(event.tool_name, event.input)}`))
      case "tool_result":
        return event.is_error ? row(red(`  ${printable(event.output).slice(0, 300)}`)) : Effect.void
      case "error":
        return row(red(`error: ${harmless(event.message)}`))
      case "diagnostic":
        return row(event.level === "info" ? dim(event.message) : yellow(`${event.level}: ${harmless(event.message)}`))
      case "step_end":
        return Effect.flatMap(Ref.getAndSet(midLine, false), (mid) => mid ? output.out("\n") : Effect.void)
      default:
        return Effect.void
    }
  }

  const ask = (lines: string): Effect.Effect<Option.Option<string>> =>
    Effect.andThen(row(lines), output.out("> ")).pipe(Effect.andThen(readLine))

  const question = Effect.fnUntraced(function*({ asker, options, prompt }: Question) {
    const rows = options.map((option, index) => `  ${index + 1}. ${printable(option)}`).join("\n")
    for (;;) {
      const line = yield* ask(`${printable(asker)} asks: ${harmless(prompt)}\n${rows}`)
      if (Option.isNone(line) || line.value.trim() === "") return { cancelled: true } satisfies Answer
      const typed = line.value.trim()
      const answer = options[Number(typed) - 1] ?? options.find((option) => option.toLowerCase() === typed.toLowerCase())
      if (answer !== undefined) return { cancelled: false, answer } satisfies Answer
    }
  }, oneAtATime.withPermits(1))

  const approve = Effect.fnUntraced(function*(request: ApprovalRequest) {
    const remember = request.canRemember ? ", s for this session" : ""
    const why = request.reason === undefined ? "" : dim(` (${printable(request.reason)})`)
    for (;;) {
      const line = yield* ask(`${yellow("Allow")} ${request.tool}: ${harmless(request.summary)}${why}\n  y once${remember}, n no`)
      if (Option.isNone(line)) return { decision: "deny", reason: "nobody answered: the terminal closed its input" } satisfies Approval
      const typed = line.value.trim().toLowerCase()
      if (typed === "y" || typed === "yes") return { decision: "once" } satisfies Approval
      if (request.canRemember && typed === "s") return { decision: "session" } satisfies Approval
      if (typed === "n" || typed === "no") return { decision: "deny", reason: "denied by the user" } satisfies Approval
    }
  }, oneAtATime.withPermits(1))

  return {
    name: "text",
    sink: { publish },
    frontend: {
      ...headless,
      interactive: true,
      question,
      approve,
      notify: (level, message) =>
        row(level === "info" ? harmless(message) : (level === "error" ? red : yellow)(`${level}: ${harmless(message)}`)),
      status: (key, segments) =>
        segments.length === 0 ? Effect.void : row(dim(`[${printable(key)}] ${printable(segments.map(({ text }) => text).join(""))}`)),
      widget: (key, widget) =>
        widget === undefined ? Effect.void : row(linesOf(widget).map((line) => dim(`[${printable(key)}] ${printable(line)}`)).join("\n"))
    },
    notice: (text) => output.err(dim(text) + "\n"),
    opened: () => Effect.void,
    closed: () => Effect.void
  }
})
