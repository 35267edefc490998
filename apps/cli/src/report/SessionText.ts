/** The reports of `nimlet sessions` for people. Pure. */
import { unsaid } from "@nimlet/session"
import { printable } from "../modes/TextRows.ts"
import { atHome } from "./ExtensionText.ts"
import type { SessionList, SessionReport } from "./SessionReport.ts"

/** How many sessions, lost ones, messages and damaged lines are told. */
const most = { sessions: 20, lost: 5, messages: 50, damaged: 10 }
const lineLength = 60

const two = (number: number): string => String(number).padStart(2, "0")

/** A moment on the clock of this machine. */
const clock = (iso: string | null): string => {
  const date = new Date(iso ?? NaN)
  return Number.isNaN(date.getTime())
    ? ""
    : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`
}

const short = (text: string, length = lineLength): string => {
  const line = printable(text).trim()
  return line.length > length ? `${line.slice(0, length - 1)}…` : line
}

const size = (bytes: number): string => bytes < 1000 ? `${bytes} B` : bytes < 1_000_000 ? `${(bytes / 1000).toFixed(0)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`

const counted = (count: number, one: string, several = `${one}s`): string => `${count} ${count === 1 ? one : several}`

/** That these sessions are missing where a folder's are told, and how to come by them. */
export const lostHeaders = (ids: ReadonlyArray<string>): string => {
  const named = ids.slice(0, most.lost).join(", ")
  const more = ids.length > most.lost ? ` and ${ids.length - most.lost} more` : ""
  return `${counted(ids.length, "session")} of no known folder, the header is lost: ${named}${more}. \`nimlet sessions list --everywhere\` lists them; to go on with one here, \`nimlet --session ID\`.`
}

/** The list: an id, when it was written last and what it is called, a line each; the folder under it where several are told. */
export const listText = ({ sessions, without_header }: SessionList, { everywhere, home, words }: { readonly everywhere: boolean; readonly home: string; readonly words: string }): string => {
  const lost = everywhere || without_header.length === 0 ? "" : `${lostHeaders(without_header)}\n`
  if (sessions.length === 0) {
    return words === "" && everywhere
      ? "There are no sessions.\n"
      : `${lost}No session ${words === "" ? "" : `with '${printable(words)}' `}${everywhere ? "anywhere" : "of this folder; --everywhere looks in all folders"}.\n`
  }
  const shown = sessions.slice(0, most.sessions)
  const width = Math.max(...shown.map(({ id }) => id.length))
  const rows = shown.flatMap(({ first_text, id, modified, parent, title, workspace }) => [
    `${id.padEnd(width)}  ${clock(modified)}  ${short(title === "" ? first_text : title) || printable(unsaid(parent ?? undefined))}`,
    ...(everywhere ? [`${" ".repeat(width)}  ${workspace === "" ? "(of no known folder)" : printable(workspace)}`] : [])
  ])
  const left = sessions.length - shown.length
  return atHome(`${[...rows, ...(left > 0 ? [`and ${left} more; words narrow them down, --json has all`] : [])].join("\n")}\n${lost}`, home)
}

const row = (label: string, text: string): ReadonlyArray<string> => text === "" ? [] : [`  ${label.padEnd(8)} ${printable(text)}`]
const rest = (count: number, shown: number): ReadonlyArray<string> => count > shown ? [`  and ${count - shown} more; --json has all`] : []

/** What a session holds. */
export const sessionText = (report: SessionReport, home: string): string => {
  const { damaged, entries, failed_calls, id, messages, models, steps, tool_calls, usage } = report
  const sections = [
    [
      short(report.title === "" ? messages[0]?.text ?? "" : report.title) || "A session without words",
      ...row("id", id),
      ...row("folder", report.workspace),
      ...row("file", `${report.path} (${size(report.bytes)})`),
      ...row("started", clock(report.started)),
      ...row("fork of", report.parent ?? ""),
      ...row("holds", `${counted(entries, "entry", "entries")}: ${counted(messages.length, "message")}, ${counted(steps, "step")}, ${
        counted(tool_calls, "tool call")}${failed_calls === 0 ? "" : ` (${failed_calls} failed)`}`),
      ...row("models", models.join(", ")),
      ...row("tokens", usage.input_tokens + usage.output_tokens === 0 ? "" : `${usage.input_tokens} in, ${usage.output_tokens} out`)
    ],
    messages.length === 0 ? [] : [
      "Messages",
      ...messages.slice(0, most.messages).map(({ at, number, text }) => `  ${String(number).padStart(4)}  ${clock(at)}${at === null ? "" : "  "}${short(text)}`),
      ...rest(messages.length, most.messages)
    ],
    damaged.length === 0 ? [] : [
      "Damaged lines, left out",
      ...damaged.slice(0, most.damaged).map(({ line, reason }) => `  ${line}: ${printable(reason)}`),
      ...rest(damaged.length, most.damaged)
    ],
    [`Go on with it: nimlet --session ${id} "..."`, ...(messages.length > 1 ? [`From before message ${messages.length}: nimlet sessions fork ${id} --message ${messages.length}`] : [])]
  ]
  return atHome(`${sections.filter((lines) => lines.length > 0).map((lines) => lines.join("\n")).join("\n\n")}\n`, home)
}
