/** What lies over the composer: a list to pick from, the supervision tree. Pure. */
import { visibleWidth } from "@earendil-works/pi-tui"
import type { ExtensionFigures } from "@nimlet/extension"
import { cleanLine } from "../Clean.ts"
import { matching } from "../reduce/Picker.ts"
import type { ExtensionsPane } from "../reduce/ExtensionsPane.ts"
import type { Picker, State } from "../State.ts"
import { fieldLines } from "./Dialogs.ts"
import { hint, type Look } from "./Items.ts"
import { clamp, fit, rule, windowOf, wrap } from "./Lines.ts"
import { searchLines } from "./SearchView.ts"

const rows = 10
const levels = "▁▂▃▄▅▆▇█"

/** Times as a row of bars, the latest at the end; the tallest bar is the longest of those shown. */
export const sparkline = (values: ReadonlyArray<number>, count: number): string => {
  const shown = values.slice(-count)
  const most = Math.max(1, ...shown)
  return shown.map((value) => levels[Math.min(levels.length - 1, Math.floor(value / most * levels.length))] ?? "").join("")
}

/** What can be done with the selected one. */
const pickerHint = ({ doomed, rename, what }: Picker, look: Look): string => {
  if (rename !== undefined) return "enter gives it this title · esc does not"
  if (doomed !== undefined) return hint(look, "discard", "once more moves it to the trash")
  const own = what === "resume" ? [hint(look, "rename", "title"), hint(look, "discard", "delete")] : []
  return ["type to search", "enter picks", ...own.filter((text) => text !== ""), "esc closes"].join(" · ")
}

const pickerLines = (overlay: Picker, look: Look): ReadonlyArray<string> => {
  const { palette, plain, width } = look
  const found = matching(overlay)
  const shown = windowOf(found, overlay.selected, rows)
  const labels = shown.items.map(({ label }) => cleanLine(label, 200))
  const column = Math.min(Math.floor(width / 2), Math.max(0, ...labels.map(visibleWidth)))
  const list = overlay.items === undefined
    ? [palette.dim("…")]
    : found.length === 0
    ? [palette.dim(overlay.items.length === 0 ? "there is none" : "nothing matches")]
    : shown.items.map(({ about }, index) => {
      const chosen = shown.from + index === overlay.selected
      const label = labels[index] ?? ""
      const text = `${label}${" ".repeat(Math.max(0, column - visibleWidth(label)))}  ${palette.dim(cleanLine(about, 200))}`
      return fit(chosen ? `${plain ? "* " : palette.accent("❯ ")}${palette.bold(text)}` : `  ${text}`, width)
    })
  return [
    ...wrap(overlay.title, width).map(palette.bold),
    ...fieldLines(overlay.rename ?? overlay.filter, { palette, secret: false, width }),
    ...list,
    ...wrap(`${found.length === 0 ? 0 : overlay.selected + 1} of ${found.length} · ${pickerHint(overlay, look)}`, width).map(palette.dim)
  ]
}

const stateOf = ({ fault, state }: ExtensionFigures, { palette }: Look): string => {
  const style = fault !== undefined || state === "Quarantined" ? palette.red : state === "Running" ? palette.green : palette.yellow
  return style(state.toLowerCase())
}

const millis = (value: number): string => value < 10 ? value.toFixed(1) : value.toFixed(0)

const detailLines = (one: ExtensionFigures, { palette, plain, width }: Look): ReadonlyArray<string> => {
  const { droppedLines, hookMillis, lateReplies, memoryBytes, pid, registration, requests, startMillis } = one
  const facts = [
    pid === undefined ? "" : `pid ${pid}`,
    startMillis === undefined ? "" : `started in ${millis(startMillis)} ms`,
    memoryBytes === undefined ? "" : `${(memoryBytes / 1024 / 1024).toFixed(0)} MB`,
    `${requests.answered} answered, ${requests.failed} failed, ${requests.open} open`,
    lateReplies === 0 ? "" : `${lateReplies} too late`,
    droppedLines === 0 ? "" : droppedLines === 1 ? "1 line dropped" : `${droppedLines} lines dropped`
  ].filter((fact) => fact !== "").join(" · ")
  const offers = registration === undefined
    ? []
    : [
      ...((registration.tools ?? []).length === 0 ? [] : [`tools ${(registration.tools ?? []).map(({ name }) => name).join(", ")}`]),
      ...(registration.commands.length === 0 ? [] : [`commands ${registration.commands.map(({ name }) => `/${name}`).join(", ")}`]),
      ...((registration.events ?? []).length === 0 ? [] : [`hears ${(registration.events ?? []).join(", ")}`])
    ]
  return [
    facts,
    ...offers,
    ...(hookMillis === undefined ? [] : [`hooks ${plain ? "" : `${sparkline(hookMillis.latest, Math.max(12, Math.min(48, width - 36)))} `}p50 ${millis(hookMillis.p50)} ms, p95 ${millis(hookMillis.p95)} ms`]),
  ].flatMap((line) => wrap(cleanLine(line), width).map(palette.dim)).concat(one.fault === undefined ? [] : wrap(cleanLine(one.fault), width).map(palette.red))
}

const extensionLines = (state: State, overlay: ExtensionsPane, look: Look): ReadonlyArray<string> => {
  const { palette, plain, width } = look
  const inner: Look = { ...look, width: Math.max(1, width - 4) }
  const shown = windowOf(state.figures, overlay.selected, rows)
  const list = shown.items.flatMap((one, index) => {
    const chosen = shown.from + index === overlay.selected
    const restarts = one.restarts === 0 ? "" : ` · ${one.restarts} ${one.restarts === 1 ? "restart" : "restarts"}`
    const row = fit(`${chosen ? plain ? "* " : palette.accent("❯ ") : "  "}${chosen ? palette.bold(cleanLine(one.key, 60)) : cleanLine(one.key, 60)}  ${stateOf(one, look)}${palette.dim(` · ${one.family.name}${one.project ? " · project" : ""}${restarts}`)}`, width)
    const log = chosen && overlay.log?.key === one.key ? overlay.log.lines : undefined
    return [
      row,
      ...(chosen ? detailLines(one, inner).map((line) => `    ${line}`) : []),
      ...(log === undefined ? [] : log.length === 0 ? ["    (its log is empty)"] : log.map((line) => palette.dim(fit(`    ${cleanLine(line, 400)}`, width))))
    ]
  })
  return [
    palette.bold(fit(`Extensions: ${state.figures.length}`, width)),
    ...(list.length === 0 ? wrap("none is installed; /extensions new NAME makes a small one to begin with, others are folders that you put into ~/.nimlet/extensions", width).map(palette.dim) : list),
    ...wrap("↑↓ choose · r restart · d disable · l log · esc closes", width).map(palette.dim)
  ]
}

/** What lies over the composer; nothing when nothing does. */
export const overlayLines = (state: State, look: Look): ReadonlyArray<string> => {
  const { overlay } = state
  if (overlay === undefined) return []
  const inner: Look = { ...look, width: Math.max(1, look.width - 2) }
  const lines = overlay.kind === "picker" ? pickerLines(overlay, inner) : overlay.kind === "search" ? searchLines(overlay, inner) : extensionLines(state, overlay, inner)
  return [...rule(look.width, look.palette.accent, look.plain), ...clamp(lines, inner.width).map((line) => ` ${line}`)]
}
