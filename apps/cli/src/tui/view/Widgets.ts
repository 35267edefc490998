/** What extensions show: widgets, the modal, statuses. Each names its extension. Pure. */
import { visibleWidth } from "@earendil-works/pi-tui"
import type { WidgetView } from "@nimlet/extension"
import type { Segment, WidgetElement } from "@nimlet/protocol"
import { clean, cleanLine } from "../Clean.ts"
import { fieldOf } from "../Field.ts"
import { modalOf, orderedWidgets } from "../reduce/Buttons.ts"
import type { State } from "../State.ts"
import { plainLines } from "./Answer.ts"
import { fieldLines } from "./Dialogs.ts"
import { type Look, markdownTheme } from "./Items.ts"
import { firstLines, fit, rule, wrap } from "./Lines.ts"

/** A button on a line: the columns it takes, from 0, and what it does. */
export interface Button {
  readonly from: number
  readonly to: number
  readonly key: string
  readonly action: string
}

/** A line, and the buttons on it. */
export interface Row {
  readonly line: string
  readonly buttons: ReadonlyArray<Button>
}

const row = (line: string): Row => ({ line, buttons: [] })

const boxes = { pending: "☐", active: "▸", done: "☑" } as const
const plainBoxes = { pending: "to do:", active: "now:", done: "done:" } as const
const bar = 24
const usualHeight = 10
/** How many lines of a widget are shown beside the composer. */
const tallest = 16

/** Markdown that could not be drawn in time; it is not tried again with each frame. */
const undrawable = new WeakSet<WidgetElement>()

const markdownLines = (element: Extract<WidgetElement, { readonly type: "markdown" }>, look: Look): ReadonlyArray<string> => {
  const text = clean(element.text.slice(0, 20_000))
  const draw = undrawable.has(element) ? undefined : look.markdown?.(markdownTheme(look))
  const drawn = draw?.(text, look.width)
  if (draw !== undefined && drawn === undefined) undrawable.add(element)
  return drawn ?? plainLines(text, look.width)
}

const elementLines = (element: WidgetElement, look: Look): ReadonlyArray<string> => {
  const { palette, plain, width } = look
  switch (element.type) {
    case "text": {
      const style = palette.styled[element.style ?? "normal"]
      return firstLines(element.text, 24).lines.flatMap((line) => wrap(line, width)).map(style)
    }
    case "list":
      return element.items.map(({ state = "pending", text }) => {
        const line = fit(`${(plain ? plainBoxes : boxes)[state]} ${cleanLine(text)}`, width)
        return state === "done" ? palette.dim(line) : state === "active" ? palette.accent(line) : line
      })
    case "progress": {
      const part = Math.min(Math.max(element.value / element.max, 0), 1)
      const label = element.label === undefined ? "" : `${cleanLine(element.label)} `
      const room = Math.max(4, Math.min(bar, width - 6))
      const done = Math.round(part * room)
      if (plain) return [fit(`${label}${Math.round(part * 100)}%`, width)]
      return [fit(`${palette.accent("█".repeat(done))}${palette.dim("░".repeat(room - done))} ${Math.round(part * 100)}% ${label}`.trimEnd(), width)]
    }
    case "markdown": {
      const height = Math.min(Math.max(Math.round(element.height ?? usualHeight), 4), 24)
      const lines = markdownLines(element, look)
      return lines.length <= height ? lines : [...lines.slice(0, height - 1), palette.dim(fit(`… ${lines.length - height + 1} more lines`, width))]
    }
  }
}

/** `extension:key` → the extension. */
const ownerOf = (key: string): string => cleanLine(key.split(":")[0] ?? key, 40)

const titleLine = (key: string, { title }: WidgetView, { palette, width }: Look): string => {
  const owner = ownerOf(key)
  return fit(title === "" ? palette.dim(cleanLine(key.replace(":", " · "), 80)) : `${palette.bold(cleanLine(title, 200))} ${palette.dim(`· ${owner}`)}`, width)
}

/** The buttons of a widget, on as many lines as they need, `indent` columns in. */
const buttonRows = (key: string, view: WidgetView, pressed: number | undefined, indent: number, { palette, width }: Look): ReadonlyArray<Row> => {
  const rows: Array<{ line: string; readonly buttons: Array<Button> }> = []
  for (const [index, { id, label }] of view.actions.entries()) {
    const text = fit(`[${cleanLine(label, 40)}]`, width)
    const size = visibleWidth(text)
    const last = rows.at(-1)
    const at = last === undefined ? 0 : visibleWidth(last.line) + 1
    const fits = last !== undefined && at + size <= width
    const painted = index === pressed ? palette.inverse(text) : palette.accent(text)
    const button = (from: number): Button => ({ from: indent + from, to: indent + from + size, key, action: id })
    if (fits) {
      last.line += ` ${painted}`
      last.buttons.push(button(at))
    } else rows.push({ line: painted, buttons: [button(0)] })
  }
  return rows
}

/** The widgets beside the composer. */
export const widgetRows = (state: State, look: Look): ReadonlyArray<Row> => {
  const { palette, plain } = look
  const inner: Look = { ...look, width: Math.max(1, look.width - 2) }
  const edge = plain ? "  " : palette.dim("│ ")
  return orderedWidgets(state).flatMap(([key, view]) => {
    if (view.position === "modal") return []
    const content = view.content.flatMap((element) => elementLines(element, inner))
    const shown = content.length <= tallest ? content : [...content.slice(0, tallest), palette.dim(fit(`… ${content.length - tallest} more lines`, inner.width))]
    const pressed = state.pressed?.key === key ? state.pressed.action : undefined
    const rows = [...[titleLine(key, view, inner), ...shown].map(row), ...buttonRows(key, view, pressed, 2, inner)]
    return rows.map(({ buttons, line }) => ({ line: `${edge}${line}`, buttons }))
  })
}

/** The modal, with what is typed into it. */
export const modalRows = (state: State, look: Look): ReadonlyArray<Row> => {
  const modal = modalOf(state)
  if (modal === undefined) return []
  const [key, view] = modal
  const { palette, plain, width } = look
  const inner: Look = { ...look, width: Math.max(1, width - 2) }
  const takes = view.actions.some(({ id }) => id === "submit")
  const draft = state.modal?.key === key ? state.modal.field : fieldOf()
  const rows: ReadonlyArray<Row> = [
    ...[titleLine(key, view, inner), ...view.content.flatMap((element) => elementLines(element, inner)), ...(takes ? fieldLines(draft, { palette, secret: false, width: inner.width }) : [])].map(row),
    ...buttonRows(key, view, undefined, 1, inner),
    ...wrap(takes ? "enter sends it to the extension, not to the model · esc closes" : "esc closes", inner.width).map(palette.dim).map(row)
  ]
  return [...rule(width, palette.accent, plain).map(row), ...rows.map(({ buttons, line }) => ({ line: ` ${line}`, buttons }))]
}

const segmentsText = (segments: ReadonlyArray<Segment>, { palette }: Look): string =>
  segments.map(({ style = "muted", text }) => palette.styled[style](cleanLine(` ${text} `, 200) === "" ? "" : clean(text.slice(0, 200)).replaceAll("\n", " "))).join("")

/** What extensions say in the footer, on one line; nothing when they say nothing. */
export const statusLines = ({ statuses }: State, look: Look): ReadonlyArray<string> =>
  statuses.length === 0
    ? []
    : [fit(statuses.map(([key, segments]) => `${look.palette.dim(`${ownerOf(key)} `)}${segmentsText(segments, look)}`).join(look.palette.dim(" · ")), look.width)]
