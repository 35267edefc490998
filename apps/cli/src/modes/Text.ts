/**
 * One prompt in a terminal: the answer streams, each tool call is a row, extensions' statuses and widgets are lines of
 * their own, and questions are asked on the spot.
 */
import { Effect, Ref } from "effect"
import type { EditorRequest } from "@nimlet/extension"
import type { AgentEvent } from "@nimlet/protocol"
import type { EditorFailed } from "../ExternalEditor.ts"
import type { Output } from "../Output.ts"
import type { TerminalInput } from "../TerminalInput.ts"
import type { Mode } from "./Mode.ts"
import { makeQuestions } from "./TextQuestions.ts"
import { callSummary, harmless, palette, printable, statusLine, widgetLines } from "./TextRows.ts"

/** What text mode needs: where to write, what is typed, whether colours are wanted, and the person's editor. */
export interface TextOptions {
  readonly output: Output["Service"]
  readonly input: TerminalInput
  readonly colours: boolean
  readonly editor: {
    readonly command: string
    readonly edit: (request: EditorRequest, lend: TerminalInput["lend"]) => Effect.Effect<string, EditorFailed>
  } | undefined
}

/** How many texts are kept while another program has the terminal; older ones are dropped. */
const kept = 4096

const joined = (text: string): string => text.replaceAll("\n", "")

/** Text mode. */
export const makeTextMode = Effect.fnUntraced(function*({ colours, editor, input, output }: TextOptions): Effect.fn.Return<Mode> {
  const colour = palette(colours)
  const { dim, red, yellow } = colour
  // Whether the cursor stands behind streamed text, so that a row must start on a new line.
  const midLine = yield* Ref.make(false)
  // What was streamed of the present answer, without line ends: those between its parts are not streamed.
  let streamed = ""
  // Texts that wait for the terminal to come back.
  let held: Array<string> | undefined
  const shown = new Map<string, string>()

  const write = (text: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (held === undefined) return output.out(text)
      held.push(text)
      if (held.length > kept) held.shift()
      return Effect.void
    })
  const row = (text: string) =>
    Effect.flatMap(Ref.getAndSet(midLine, false), (mid) => write(`${mid ? "\n" : ""}${text}\n`))
  const stream = (text: string) => Effect.andThen(Ref.set(midLine, !text.endsWith("\n")), write(harmless(text)))

  const lend: TerminalInput["lend"] = (program) =>
    Effect.acquireUseRelease(
      Effect.sync(() => (held = [])),
      () => input.lend(program),
      (waiting) => Effect.suspend(() => {
        held = undefined
        return Effect.forEach(waiting, output.out, { discard: true })
      })
    )

  /** Says how something of an extension stands, when that differs from what was said last. */
  const stand = (key: string, lines: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      if ((shown.get(key) ?? "") === lines) return Effect.void
      if (lines === "") {
        shown.delete(key)
        return Effect.void
      }
      shown.set(key, lines)
      return row(lines)
    })

  const publish = (event: AgentEvent): Effect.Effect<void> => {
    switch (event.type) {
      case "step_start":
        streamed = ""
        return Effect.void
      case "message_delta":
        streamed += joined(event.delta)
        return stream(event.delta)
      case "message": {
        if (event.role === "user") return Effect.void
        if (event.model === undefined) return row(harmless(event.content))
        return joined(event.content) === streamed
          ? Effect.void
          : Effect.andThen(row(dim("An extension changed this answer to:")), row(harmless(event.content)))
      }
      case "tool_call":
        return row(dim(`· ${callSummary(event.tool_name, event.input)}`))
      case "tool_result":
        if (event.is_error) return row(red(`  ${printable(event.output).slice(0, 300)}`))
        // It may be the last word of the turn.
        return event.terminate === true ? row(harmless(event.output)) : Effect.void
      case "error":
        return row(red(`error: ${harmless(event.message)}`))
      case "diagnostic":
        return row(event.level === "info" ? dim(event.message) : yellow(`${event.level}: ${harmless(event.message)}`))
      case "step_end":
        return Effect.flatMap(Ref.getAndSet(midLine, false), (mid) => mid ? write("\n") : Effect.void)
      default:
        return Effect.void
    }
  }

  const questions = yield* makeQuestions({
    row,
    write,
    line: input.line,
    secret: input.secret,
    editor: editor === undefined ? undefined : { command: editor.command, edit: (request) => editor.edit(request, lend) },
    palette: colour
  })

  return {
    name: "text",
    sink: { publish },
    frontend: {
      interactive: true,
      ...questions,
      notify: (level, message) =>
        row(level === "info" ? harmless(message) : (level === "error" ? red : yellow)(`${level}: ${harmless(message)}`)),
      status: (key, segments) => stand(`status ${key}`, statusLine(key, segments, colour)),
      widget: (key, widget) => stand(`widget ${key}`, widget === undefined ? "" : widgetLines(key, widget, colour).join("\n"))
    },
    notice: (text) => output.err(dim(text) + "\n"),
    opened: () => Effect.void,
    switched: () => Effect.void,
    refused: () => Effect.void,
    // There is no composer to put it into, and a person may have written it.
    closed: (_, { editorText = "" }) => editorText === "" ? Effect.void : Effect.andThen(row(dim("Left to be sent:")), row(harmless(editorText)))
  }
})
