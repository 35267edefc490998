/** The lines around the composer: what goes on, what waits, who answers. Pure. */
import { visibleWidth } from "@earendil-works/pi-tui"
import { cleanLine } from "../Clean.ts"
import { starting, type State } from "../State.ts"
import type { Look } from "./Items.ts"
import { fit } from "./Lines.ts"

const frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

/** A number of tokens in few letters. */
export const short = (count: number): string => count < 1_000 ? String(count) : count < 100_000 ? `${(count / 1_000).toFixed(1)}k` : `${Math.round(count / 1_000)}k`

const elapsed = (millis: number): string => {
  const seconds = Math.max(0, Math.floor(millis / 1_000))
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m ${String(seconds % 60).padStart(2, "0")}s`
}

/** What the agent does now, and since when. */
export const activityLines = (state: State, { palette, width }: Look): ReadonlyArray<string> => {
  const { answering, now, run, sent, tokens } = state
  const missing = starting(state)
  if (run === undefined) {
    return answering === undefined ? ["", fit(palette.dim(`starting${missing.length === 0 ? "" : `: ${missing.map((name) => cleanLine(name, 40)).join(", ")}`}`), width)] : []
  }
  const spinner = palette.accent(frames[Math.floor(now / 100) % frames.length] ?? "")
  const what = run.interrupted
    ? "interrupting"
    : answering === undefined
    ? missing.length === 0 ? "starting" : `waiting for ${missing.map((name) => cleanLine(name, 40)).join(", ")} (esc goes on without)`
    : "working"
  const told = [elapsed(now - run.since), ...(tokens.run > 0 ? [`↓ ${short(tokens.run)} tokens`] : []), ...(run.interrupted || answering === undefined ? [] : ["esc interrupts"])]
  return [...(sent === undefined ? [] : ["", fit(palette.dim(`> ${cleanLine(sent)}`), width)]), "", fit(`${spinner} ${what} ${palette.dim(told.join(" · "))}`, width)]
}

/** What goes on beside, and what was said and waits for its time. */
export const waitingLines = ({ asides, later, waiting }: State, { palette, width }: Look): ReadonlyArray<string> => [
  ...asides.map((text) => palette.dim(fit(`  beside: ${cleanLine(text)} (esc ends it)`, width))),
  ...[
    ...waiting.steering.map((text) => `next: ${cleanLine(text)}`),
    ...waiting.followUp.map((text) => `after: ${cleanLine(text)}`),
    ...later.map(({ text }) => `after: ${cleanLine(text)}`)
  ].map((line) => palette.dim(fit(`  ${line} (alt+up takes it back)`, width)))
]

/** The last line: where we are, and who answers. */
export const footerLine = (state: State, { palette, width }: Look): string => {
  const { answering, folder, leaving, session, tokens, working } = state
  if (leaving !== undefined) return fit(palette.yellow("ctrl+c once more leaves"), width)
  const name = folder.split("/").at(-1) ?? folder
  const marks = [...(working.mode === undefined ? [] : [palette.yellow(`[${cleanLine(working.mode, 40)}]`)]), ...(working.yolo ? [palette.red("[yolo: nothing is asked]")] : [])]
  const left = [cleanLine(name, 60), ...(session.title === "" ? [] : [cleanLine(session.title, 60)])].join(" · ")
  const full = answering?.window === undefined || tokens.context === 0 ? [] : [`${Math.min(100, Math.round(tokens.context / answering.window * 100))}%`]
  const cost = working.cost === undefined ? [] : [`$${working.cost.toFixed(working.cost < 1 ? 4 : 2)}`]
  const right = answering === undefined ? "" : [...cost, ...full, cleanLine(`${answering.provider}/${answering.model}`, 80)].join(" · ")
  const mark = marks.map((one) => `${one} `).join("")
  const room = width - visibleWidth(mark) - visibleWidth(left) - visibleWidth(right)
  const rest = room >= 2 ? `${left}${" ".repeat(room)}${right}` : right === "" ? left : right
  return fit(`${mark}${palette.dim(rest)}`, width)
}
