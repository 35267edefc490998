/** What lies over the composer: a list to pick from, the supervision tree. Pure. */
import type { ExtensionFigures } from "@nimlet/extension"
import { cleanLine } from "../Clean.ts"
import { matching } from "../reduce/Picker.ts"
import type { Overlay, State } from "../State.ts"
import { fieldLines } from "./Dialogs.ts"
import type { Look } from "./Items.ts"
import { clamp, fit } from "./Lines.ts"

const rows = 10
const levels = "▁▂▃▄▅▆▇█"

/** Times as a row of bars, the latest at the end; the tallest bar is the longest of those shown. */
export const sparkline = (values: ReadonlyArray<number>, count: number): string => {
  const shown = values.slice(-count)
  const most = Math.max(1, ...shown)
  return shown.map((value) => levels[Math.min(levels.length - 1, Math.floor(value / most * levels.length))] ?? "").join("")
}

/** The part of a list that has the selected one in it. */
const windowOf = <A>(items: ReadonlyArray<A>, selected: number, count: number): { readonly from: number; readonly items: ReadonlyArray<A> } => {
  const from = Math.max(0, Math.min(selected - Math.floor(count / 2), items.length - count))
  return { from, items: items.slice(from, from + count) }
}

const pickerLines = (overlay: Extract<Overlay, { readonly kind: "picker" }>, { palette, width }: Look): ReadonlyArray<string> => {
  const found = matching(overlay)
  const shown = windowOf(found, overlay.selected, rows)
  const list = overlay.items === undefined
    ? [palette.dim("…")]
    : found.length === 0
    ? [palette.dim(overlay.items.length === 0 ? "there is none" : "nothing matches")]
    : shown.items.map(({ about, label }, index) => {
      const chosen = shown.from + index === overlay.selected
      const text = `${cleanLine(label, 200)}  ${palette.dim(cleanLine(about, 200))}`
      return fit(chosen ? `${palette.accent("❯ ")}${palette.bold(text)}` : `  ${text}`, width)
    })
  return [
    fit(palette.bold(overlay.title), width),
    ...fieldLines(overlay.filter, { palette, secret: false, width }),
    ...list,
    palette.dim(fit(`${found.length === 0 ? 0 : overlay.selected + 1} of ${found.length} · type to search · enter picks · esc closes`, width))
  ]
}

const stateOf = ({ fault, state }: ExtensionFigures, { palette }: Look): string => {
  const style = fault !== undefined || state === "Quarantined" ? palette.red : state === "Running" ? palette.green : palette.yellow
  return style(state.toLowerCase())
}

const millis = (value: number): string => value < 10 ? value.toFixed(1) : value.toFixed(0)

const detailLines = (one: ExtensionFigures, { palette, width }: Look): ReadonlyArray<string> => {
  const { hookMillis, lateReplies, memoryBytes, pid, registration, requests, startMillis } = one
  const facts = [
    pid === undefined ? "" : `pid ${pid}`,
    startMillis === undefined ? "" : `started in ${millis(startMillis)} ms`,
    memoryBytes === undefined ? "" : `${(memoryBytes / 1024 / 1024).toFixed(0)} MB`,
    `${requests.answered} answered, ${requests.failed} failed, ${requests.open} open`,
    lateReplies === 0 ? "" : `${lateReplies} too late`
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
    ...(hookMillis === undefined ? [] : [`hooks ${sparkline(hookMillis.latest, Math.max(1, Math.min(48, width - 40)))} p50 ${millis(hookMillis.p50)} ms, p95 ${millis(hookMillis.p95)} ms`]),
  ].map((line) => palette.dim(fit(cleanLine(line), width))).concat(one.fault === undefined ? [] : [palette.red(fit(cleanLine(one.fault), width))])
}

const extensionLines = (state: State, overlay: Extract<Overlay, { readonly kind: "extensions" }>, look: Look): ReadonlyArray<string> => {
  const { palette, width } = look
  const inner: Look = { ...look, width: Math.max(1, width - 4) }
  const shown = windowOf(state.figures, overlay.selected, rows)
  const list = shown.items.flatMap((one, index) => {
    const chosen = shown.from + index === overlay.selected
    const restarts = one.restarts === 0 ? "" : ` · ${one.restarts} ${one.restarts === 1 ? "restart" : "restarts"}`
    const row = fit(`${chosen ? palette.accent("❯ ") : "  "}${chosen ? palette.bold(cleanLine(one.key, 60)) : cleanLine(one.key, 60)}  ${stateOf(one, look)}${palette.dim(` · ${one.family.name}${one.project ? " · project" : ""}${restarts}`)}`, width)
    const log = chosen && overlay.log?.key === one.key ? overlay.log.lines : undefined
    return [
      row,
      ...(chosen ? detailLines(one, inner).map((line) => `    ${line}`) : []),
      ...(log === undefined ? [] : log.length === 0 ? ["    (its log is empty)"] : log.map((line) => palette.dim(fit(`    ${cleanLine(line, 400)}`, width))))
    ]
  })
  return [
    palette.bold(fit(`Extensions: ${state.figures.length}`, width)),
    ...(list.length === 0 ? [palette.dim(fit("none is installed; folders with an extension.json go to ~/.nimlet/extensions", width))] : list),
    palette.dim(fit("↑↓ choose · r restart · l log · esc closes", width))
  ]
}

/** What lies over the composer; nothing when nothing does. */
export const overlayLines = (state: State, look: Look): ReadonlyArray<string> => {
  const { overlay } = state
  if (overlay === undefined) return []
  const inner: Look = { ...look, width: Math.max(1, look.width - 2) }
  const lines = overlay.kind === "picker" ? pickerLines(overlay, inner) : extensionLines(state, overlay, inner)
  return [look.palette.accent("─".repeat(look.width)), ...clamp(lines, inner.width).map((line) => ` ${line}`)]
}
