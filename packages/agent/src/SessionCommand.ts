/** `/session`: tells of the open session, finds others, and names, deletes and brings back those that are not open. */
import { Effect } from "effect"
import { beginningOf } from "@nimlet/protocol"
import { isUser, type Session, type Sessions, type SessionSummary, titleOf, unsaid } from "@nimlet/session"
import type { Ledger } from "./Ledger.ts"

/** What it works with. */
export interface SessionCommandOptions {
  readonly sessions: Sessions["Service"]
  readonly session: Session
  readonly ledger: Ledger
}

/** What came of it: what to tell, or why not. */
export interface SessionCommandOutcome {
  readonly done: boolean
  readonly text: string
}

const usage = "Usage: /session [list [WORDS] | rename ID TITLE | delete ID | restore ID]"
/** How many sessions are told; words narrow them down. */
const most = 20
const titleLength = 60

const done = (text: string): SessionCommandOutcome => ({ done: true, text })
const failed = (text: string): SessionCommandOutcome => ({ done: false, text })

const lineOf = ({ firstText, id, name = "", parent, workspace }: SessionSummary, open: string): string => {
  const said = [name, firstText].map((text) => text.trim()).find((text) => text !== "")
  const [title = ""] = (said ?? unsaid(parent)).split("\n")
  const lost = workspace === "" ? "  (of no known folder: the header is lost)" : ""
  return `${`${id === open ? "*" : " "} ${id}  ${title.length > titleLength ? `${beginningOf(title, titleLength - 1)}…` : title}`.trimEnd()}${lost}`
}

const present = Effect.fnUntraced(function*(session: Session) {
  const entries = yield* session.entries
  const { at, parent } = session.header
  const title = titleOf(entries)
  const rows = [
    `Session ${session.id}${title === "" ? "" : ` (${title})`}`,
    session.path._tag === "Some" ? `file: ${session.path.value}` : "kept in memory only",
    ...(at === undefined ? [] : [`started: ${at}`]),
    ...(parent === undefined ? [] : [`fork of: ${parent}`]),
    `messages of yours: ${entries.filter(isUser).length}, entries: ${entries.length}`
  ]
  return done(rows.join("\n"))
})

/** Does what the words behind `/session` say. */
export const sessionCommand = Effect.fnUntraced(function*({ ledger, session, sessions }: SessionCommandOptions, args: string) {
  const [what = "", id = "", ...more] = args.split(/\s+/).filter((word) => word !== "")
  const isOpen = id === session.id
  switch (what.toLowerCase()) {
    case "":
      return yield* present(session)
    case "list": {
      const query = [id, ...more].join(" ").trim()
      const found = yield* sessions.list({ workspace: session.workspace, unheaded: true, ...(query === "" ? {} : { query }) })
      if (found.length === 0) return done(query === "" ? "No session of this folder is saved." : `No session of this folder has '${query}'.`)
      const left = found.length - most
      return done([...found.slice(0, most).map((one) => lineOf(one, session.id)), ...(left > 0 ? [`and ${left} more; words narrow them down`] : [])].join("\n"))
    }
    case "rename": {
      const title = more.join(" ")
      if (id === "" || title === "") return failed(usage)
      yield* isOpen ? ledger.append({ type: "name", name: title }) : sessions.name(id, title)
      return done(`Session ${id} is now called: ${title}`)
    }
    case "delete":
      if (id === "" || more.length > 0) return failed(usage)
      if (isOpen) return failed("The open session cannot be deleted; /new or /resume leaves it.")
      yield* sessions.delete(id)
      return done(`Session ${id} is deleted. /session restore ${id} brings it back.`)
    case "restore":
      if (id === "" || more.length > 0) return failed(usage)
      yield* sessions.restore(id)
      return done(`Session ${id} is back. /resume ${id} goes on with it.`)
    default:
      return failed(usage)
  }
}, Effect.catch((error) => Effect.succeed(failed(error.message))))
