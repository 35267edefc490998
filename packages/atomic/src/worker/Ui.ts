/** `ctx.ui`: questions go to the host and wait, the rest is said and forgotten. Without a person every question is cancelled. */
import type { Replica } from "./Replica.ts"
import { segmentsOf, theme, uncoloured } from "./Theme.ts"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "./Values.ts"
import type { Wire } from "./Wire.ts"

/** What the questions need. */
export interface UiOptions {
  readonly wire: Wire
  readonly replica: Replica
  readonly hasUi: () => boolean
  /** Says once that something is not there. */
  readonly missing: (what: string) => void
}

const signalOf = (options: Fields): AbortSignal | undefined => {
  const signals = [
    ...(options["signal"] instanceof AbortSignal ? [options["signal"]] : []),
    ...(typeof options["timeout"] === "number" ? [AbortSignal.timeout(options["timeout"])] : [])
  ]
  return signals.length === 0 ? undefined : AbortSignal.any(signals)
}

/** Makes `ctx.ui` of one worker. */
export const makeUi = ({ hasUi, missing, replica, wire }: UiOptions) => {
  const ask = async (question: Fields, options: unknown): Promise<Fields> =>
    hasUi() ? await wire.ask({ type: "ui_request", ...question }, signalOf(fieldsOf(options))) : { cancelled: true }
  const answerOf = (reply: Fields): string | undefined => reply["cancelled"] === true ? undefined : textOf(reply["answer"])
  const show = (aspect: string, value: unknown): void => {
    if (value !== undefined && value !== null) replica.set(`ui.${aspect}`, value)
    wire.send({ type: "show", aspect, value: value ?? null })
  }
  const update = (fields: Fields): void => wire.send({ type: "update", ...fields })
  const later = (what: string) => (): void => missing(`ctx.ui.${what}`)

  return {
    theme,
    select: async (title: unknown, options: unknown, more?: unknown) =>
      answerOf(await ask({
        method: "question",
        prompt: uncoloured(textOf(title)),
        options: listOf(options).map((each) => uncoloured(isFields(each) ? textOf(each["label"] ?? each["value"]) : String(each)))
      }, more)),
    confirm: async (title: unknown, message: unknown, more?: unknown) => {
      const prompt = [textOf(title), textOf(message)].filter((text) => text !== "").map(uncoloured).join("\n")
      const reply = await ask({ method: "confirm", prompt }, more)
      return reply["cancelled"] !== true && reply["confirmed"] === true
    },
    input: async (title: unknown, placeholder?: unknown, more?: unknown) =>
      answerOf(await ask({ method: "input", prompt: uncoloured(textOf(title)), placeholder: textOf(placeholder) }, more)),
    editor: async (title: unknown, prefill?: unknown, more?: unknown) => {
      if (!hasUi()) return undefined
      const line = { type: "host_request", method: "ui.editor", title: textOf(title), text: textOf(prefill) }
      const reply = await wire.ask(line, signalOf(fieldsOf(more)))
      const { text } = fieldsOf(reply["result"])
      return typeof text === "string" ? text : undefined
    },
    notify: (message: unknown, level?: unknown) =>
      update({ notification: { level: textOf(level, "info"), message: uncoloured(String(message)) || " " } }),
    setStatus: (key: unknown, text?: unknown) =>
      update({ status: { key: textOf(key, "status"), segments: typeof text === "string" ? segmentsOf(text) : [] } }),
    setWidget: (key: unknown, content?: unknown, options?: unknown) => {
      if (typeof content === "function") return missing("a widget drawn by a component")
      const lines = Array.isArray(content) ? content.map((line) => uncoloured(String(line))) : []
      const { placement } = fieldsOf(options)
      update({ widget: { key: textOf(key, "widget"), lines, ...(placement === "belowEditor" ? { placement: "below" } : {}) } })
    },
    setTitle: (text: unknown) => show("title", String(text)),
    setWorkingMessage: (text?: unknown) => show("working_message", text),
    setWorkingVisible: (visible: unknown) => show("working_visible", visible === true),
    setWorkingIndicator: (options?: unknown) => show("working_indicator", options),
    setHiddenThinkingLabel: (text?: unknown) => show("hidden_thinking_label", text),
    setEditorText: (text: unknown) => show("editor_text", String(text)),
    pasteToEditor: (text: unknown) => show("editor_paste", String(text)),
    getEditorText: () => textOf(replica.get("ui.editor_text")),
    getAllThemes: () => listOf(replica.get("ui.themes")),
    getTheme: (name: unknown) => listOf(replica.get("ui.themes")).some((each) => fieldsOf(each)["name"] === name) ? theme : undefined,
    setTheme: (wanted: unknown) => {
      const name = isFields(wanted) ? textOf(wanted["name"]) : textOf(wanted)
      if (!listOf(replica.get("ui.themes")).some((each) => fieldsOf(each)["name"] === name)) {
        return { success: false, error: `there is no theme ${name}` }
      }
      show("theme", name)
      return { success: true }
    },
    getToolsExpanded: () => replica.get("ui.tools_expanded") === true,
    setToolsExpanded: (expanded: unknown) => show("tools_expanded", expanded === true),
    // What needs components drawn here; until then as pi's own RPC mode: nothing happens, said once.
    custom: async () => missing("ctx.ui.custom"),
    setFooter: later("setFooter"),
    setHeader: later("setHeader"),
    setEditorComponent: later("setEditorComponent"),
    getEditorComponent: () => undefined,
    addAutocompleteProvider: later("addAutocompleteProvider"),
    onTerminalInput: () => {
      missing("ctx.ui.onTerminalInput")
      return () => undefined
    }
  }
}
