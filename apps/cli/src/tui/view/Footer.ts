/** The lines around the composer: what goes on, what waits, who answers. Pure. */
import { visibleWidth } from "@earendil-works/pi-tui"
import { cleanLine } from "../Clean.ts"
import { aspectOf } from "../reduce/Aspects.ts"
import { starting, type State } from "../State.ts"
import { hint, type Look } from "./Items.ts"
import { fit } from "./Lines.ts"

const frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

/** A number of tokens in few letters. */
export const short = (count: number): string => count < 1_000 ? String(count) : count < 100_000 ? `${(count / 1_000).toFixed(1)}k` : `${Math.round(count / 1_000)}k`

const elapsed = (millis: number): string => {
  const seconds = Math.max(0, Math.floor(millis / 1_000))
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m ${String(seconds % 60).padStart(2, "0")}s`
}

/** What turns while work is done: ours, or what a module wants. */
const spinnerOf = (state: State): string => {
  const value = aspectOf(state, "working_indicator")?.value
  const own = typeof value === "object" && value !== null ? value : {}
  const given = "frames" in own && Array.isArray(own.frames) ? own.frames.filter((frame) => typeof frame === "string").map((frame) => cleanLine(frame, 20)) : undefined
  const pace = "intervalMs" in own && typeof own.intervalMs === "number" && own.intervalMs >= 100 ? own.intervalMs : 100
  const all = given ?? [...frames]
  return all[Math.floor(state.now / pace) % Math.max(1, all.length)] ?? ""
}

/** What a module says is done, with its name. */
const workingText = (state: State): string => {
  const said = aspectOf(state, "working_message")
  return typeof said?.value === "string" && said.value !== "" ? `${cleanLine(said.value, 100)} (${cleanLine(said.extension, 40)})` : "working"
}

/** What the agent does now, and since when. */
export const activityLines = (state: State, look: Look): ReadonlyArray<string> => {
  const { palette, plain, width } = look
  const { answering, now, run, sent, tokens } = state
  const missing = starting(state)
  if (run === undefined) {
    return answering === undefined ? ["", fit(palette.dim(`starting${missing.length === 0 ? "" : `: ${missing.map((name) => cleanLine(name, 40)).join(", ")}`}`), width)] : []
  }
  const spinner = plain ? "" : `${palette.accent(spinnerOf(state))} `
  const isAtWork = !run.interrupted && answering !== undefined
  const what = run.interrupted
    ? "interrupting"
    : answering === undefined
    ? missing.length === 0 ? "starting" : `waiting for ${missing.map((name) => cleanLine(name, 40)).join(", ")} (${hint(look, "interrupt", "goes on without")})`
    : workingText(state)
  // Hidden only where nobody could take it for a standstill.
  if (isAtWork && sent === undefined && aspectOf(state, "working_visible")?.value === false) return [""]
  const told = [
    // A time that changes would be read aloud again and again.
    ...(plain ? [] : [elapsed(now - run.since), ...(tokens.run > 0 ? [`↓ ${short(tokens.run)} tokens`] : [])]),
    ...(!isAtWork ? [] : [hint(look, "interrupt", "interrupts")])
  ].filter((one) => one !== "")
  return [...(sent === undefined ? [] : ["", fit(palette.dim(`> ${cleanLine(sent)}`), width)]), "", fit(`${spinner}${what} ${palette.dim(told.join(" · "))}`, width)]
}

/** What goes on beside, and what was said and waits for its time. */
export const waitingLines = ({ asides, later, waiting }: State, look: Look): ReadonlyArray<string> => {
  const { palette, width } = look
  const takes = hint(look, "takeBack", "takes it back")
  const ends = hint(look, "interrupt", "ends it")
  const line = (text: string, how: string) => {
    const end = how === "" ? "" : ` (${how})`
    const room = width - visibleWidth(end)
    return palette.dim(room < 12 ? fit(`  ${text}`, width) : `${fit(`  ${text}`, room)}${end}`)
  }
  return [
    ...asides.map((text) => line(`beside: ${cleanLine(text)}`, ends)),
    ...[
      ...waiting.steering.map((text) => `next: ${cleanLine(text)}`),
      ...waiting.followUp.map((text) => `after: ${cleanLine(text)}`),
      ...later.map(({ text }) => `after: ${cleanLine(text)}`)
    ].map((text) => line(text, takes))
  ]
}

/** The last line: where we are, and who answers. */
export const footerLine = (state: State, look: Look): string => {
  const { palette, width } = look
  const { answering, folder, leaving, session, tokens, working } = state
  if (leaving !== undefined) return fit(palette.yellow(hint(look, "clear", "once more leaves")), width)
  const name = folder.split("/").at(-1) ?? folder
  const marks = [...(working.mode === undefined ? [] : [palette.yellow(`[${cleanLine(working.mode, 40)}]`)]), ...(working.yolo ? [palette.red("[yolo: nothing is asked]")] : [])]
  const left = [cleanLine(name, 60), ...(session.title === "" ? [] : [cleanLine(session.title, 60)])].join(" · ")
  const full = answering?.window === undefined || tokens.context === 0 ? [] : [`${Math.min(100, Math.round(tokens.context / answering.window * 100))}%`]
  const cost = working.cost === undefined ? [] : [`$${working.cost.toFixed(working.cost < 1 ? 4 : 2)}`]
  const right = answering === undefined ? "" : [...cost, ...full, cleanLine(`${answering.provider}/${answering.model}${answering.thinking === undefined ? "" : `:${answering.thinking}`}`, 80)].join(" · ")
  const mark = marks.map((one) => `${one} `).join("")
  const room = width - visibleWidth(mark) - visibleWidth(left) - visibleWidth(right)
  const rest = room >= 2 ? `${left}${" ".repeat(room)}${right}` : right === "" ? left : right
  return fit(`${mark}${palette.dim(rest)}`, width)
}
