/** The question on the screen, as lines. Pure. */
import { evident, evidentLine } from "../../Evident.ts"
import { evidentRow } from "../Clean.ts"
import { choicesOf, type Dialog, isResting, marked, type Question } from "../Dialog.ts"
import type { Field } from "../Field.ts"
import type { Palette } from "../Palette.ts"
import { changeOf, diffLines } from "./Diff.ts"
import { hint, type Look } from "./Items.ts"
import { firstLines, fit, hang, longestAsked, rule, wrap } from "./Lines.ts"

const bullet = "•"

/** A field with its cursor, as lines. */
export const fieldLines = ({ cursor, text }: Field, { palette, secret, width }: { readonly palette: Palette; readonly secret: boolean; readonly width: number }): ReadonlyArray<string> => {
  const shown = (part: string) => secret ? bullet.repeat([...part].length) : evident(part)
  const rest = text.slice(cursor)
  const [under] = new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(rest)
  const at = under === undefined || under.segment === "\n" ? " " : shown(under.segment)
  const after = under === undefined ? "" : under.segment === "\n" ? rest : rest.slice(under.segment.length)
  return hang(palette.accent("> "), wrap(`${shown(text.slice(0, cursor))}${palette.inverse(at)}${shown(after)}`, Math.max(1, width - 3)))
}

const drawBody = (question: Question, look: Look): ReadonlyArray<string> => {
  const { open, palette, width } = look
  const shows = hint(look, "details", "shows them")
  const words = (text: string, count: number) => {
    const { lines, more } = firstLines(text, count, longestAsked)
    return [...lines.flatMap((line) => wrap(line, width)), ...(more > 0 ? [palette.dim(`… ${more} more lines${shows === "" ? "" : ` (${shows})`}`)] : [])]
  }
  switch (question.kind) {
    case "approval": {
      const { arguments: args, preview, reason, summary, tool } = question.request
      const path = typeof args["path"] === "string" ? wrap(evidentRow(evidentLine(args["path"])), width).map(palette.bold) : []
      const change = preview ?? changeOf(tool, args)
      const what = change !== undefined
        ? [...path, ...diffLines(change, { count: open ? 400 : 16, whole: true, palette, width, more: shows })]
        : typeof args["command"] === "string"
        ? words(args["command"], open ? 400 : 12)
        : [...(summary === tool ? [] : wrap(evidentRow(summary), width)), ...words(JSON.stringify(args, null, 2), open ? 400 : 12).map(palette.dim)]
      return [...what, ...(reason === undefined ? [] : wrap(evidentRow(reason), width).map(palette.dim))]
    }
    case "editor":
      return [fit(question.title === "" ? "a text" : evidentRow(question.title), width)]
    default:
      return words(question.prompt, open ? 400 : 20)
  }
}

const bodies = new WeakMap<Question, { readonly look: Look; readonly lines: ReadonlyArray<string> }>()

/** A long one takes longer to draw than a frame may: it is drawn once for how things look. */
const bodyOf = (question: Question, look: Look): ReadonlyArray<string> => {
  const kept = bodies.get(question)
  if (kept !== undefined && kept.look.width === look.width && kept.look.open === look.open && kept.look.palette === look.palette) return kept.lines
  const lines = drawBody(question, look)
  bodies.set(question, { look, lines })
  return lines
}

const headOf = (question: Question): string =>
  question.kind === "approval"
    ? `Allow ${evidentRow(question.request.tool, 80)}?`
    : question.kind === "editor"
    ? `${evidentRow(question.asker, 60)} wants a text edited`
    : `${evidentRow(question.asker, 60)} asks`

/** The first of the questions, and how many wait behind it. How it is answered is shown from when on it takes keys. */
export const dialogLines = ([dialog, ...others]: ReadonlyArray<Dialog>, now: number, look: Look): ReadonlyArray<string> => {
  if (dialog === undefined) return []
  const { palette, width } = look
  const { field, question } = dialog
  const selected = marked(dialog, now)
  const keys = question.kind === "text" && question.secret ? "not shown while you type · enter answers · esc dismisses" : "enter answers · esc dismisses"
  const inner: Look = { ...look, width: Math.max(1, width - 2) }
  const more = [...(others.length === 0 ? [] : [`${others.length} more ${others.length === 1 ? "waits" : "wait"}`]), ...(dialog.beside === true ? ["↑ turns to it"] : [])]
  const answer = field !== undefined
    ? [
      ...(question.kind === "approval" ? [palette.dim("Why not? The model reads it.")] : []),
      ...fieldLines(field, { palette, secret: question.kind === "text" && question.secret, width: inner.width }),
      ...wrap(keys, inner.width).map((line) => isResting(dialog, now) ? "" : palette.dim(line))
    ]
    : choicesOf(question).flatMap(({ keys: [letter], label }, index) => {
      const lead = index !== selected ? "  " : look.plain ? "* " : palette.accent("❯ ")
      const key = letter === undefined ? "" : `${letter}  `
      return hang(lead, wrap(`${key}${evidentRow(label)}`, Math.max(1, inner.width - 2)).map(index === selected ? palette.bold : (line) => line))
    })
  return [...rule(width, palette.yellow, look.plain), fit(` ${palette.bold(palette.yellow(headOf(question)))}${more.length === 0 ? "" : palette.dim(`  (${more.join(" · ")})`)}`, width), ...[...bodyOf(question, inner), ...answer].map((line) => ` ${line}`)]
}
