/** `nimlet sessions …`: sessions listed, told, named, forked, exported, deleted and brought back, none of them run. */
import { Effect, FileSystem, Path, Schema, Stream } from "effect"
import { loadSettings } from "@nimlet/agent"
import { Sessions } from "@nimlet/session"
import { UsageError } from "./Argv.ts"
import type { Invocation, SessionCommand } from "./Flags.ts"
import type { Host } from "./Host.ts"
import { asLines } from "./modes/Print.ts"
import { printable } from "./modes/TextRows.ts"
import { Output } from "./Output.ts"
import { remedyOf, type SessionFailure } from "./Remedy.ts"
import { SessionList, sessionList, SessionReport, sessionReport, unheaded } from "./report/SessionReport.ts"
import { listText, sessionText } from "./report/SessionText.ts"
import { sessionFolder } from "./Run.ts"

const encodeList = Schema.encodeSync(Schema.fromJsonString(SessionList))
const encodeReport = Schema.encodeSync(Schema.fromJsonString(SessionReport))

interface Request {
  readonly invocation: Invocation
  readonly host: Host
  readonly folder: string
  readonly workspace: string
}
type Needs = FileSystem.FileSystem | Path.Path | Output | Sessions

const list = Effect.fnUntraced(function*({ host, invocation, workspace }: Request) {
  const { everywhere, json, operands } = invocation
  const query = operands.join(" ")
  const all = yield* (yield* Sessions).list({ query })
  const found = sessionList(all.filter((one) => everywhere || one.workspace === workspace), unheaded(all))
  yield* (yield* Output).out(json ? `${encodeList(found)}\n` : listText(found, { everywhere, home: host.home, words: query }))
})

const show = Effect.fnUntraced(function*(id: string, { folder, host, invocation }: Request) {
  const held = yield* (yield* Sessions).read(id)
  const path = (yield* Path.Path).join(folder, `${id}.jsonl`)
  const bytes = yield* (yield* FileSystem.FileSystem).stat(path).pipe(Effect.map(({ size }) => Number(size)), Effect.orElseSucceed(() => 0))
  const report = sessionReport({ id, path, bytes }, held)
  yield* (yield* Output).out(invocation.json ? `${encodeReport(report)}\n` : sessionText(report, host.home))
})

const fork = Effect.fnUntraced(function*(id: string, { invocation: { json, message } }: Request) {
  if (message !== undefined && !/^[1-9]\d{0,8}$/.test(message)) {
    return yield* new UsageError({ problem: `--message takes the number of one of your messages, the first is 1, not '${message}'` })
  }
  const forked = yield* (yield* Sessions).copy(id, message === undefined ? undefined : { message: Number(message) })
  const said = forked.text === "" ? "" : `Message ${message} was: ${printable(forked.text)}\n`
  yield* (yield* Output).out(json ? `${JSON.stringify(forked)}\n` : `Forked into session ${forked.id}.\n${said}Go on with it: nimlet --session ${forked.id} "..."\n`)
})

const exportTo = Effect.fnUntraced(function*(id: string, file: string | undefined, { host }: Request) {
  const { out } = yield* Output
  const sessions = yield* Sessions
  if (file === "-") return yield* Stream.runForEach(sessions.page(id), out)
  const written = yield* sessions.export(id, { folder: host.cwd, ...(file === undefined ? {} : { file }) })
  yield* out(`Session ${id} is written to ${written}.\n`)
})

const commands: { readonly [C in SessionCommand]: (request: Request) => Effect.Effect<void, SessionFailure | UsageError, Needs> } = {
  "sessions list": list,
  "sessions show": (request) => show(request.invocation.operands[0] ?? "", request),
  "sessions name": Effect.fnUntraced(function*({ invocation: { operands: [id = "", ...words] } }) {
    const title = words.join(" ").trim()
    if (title === "") return yield* new UsageError({ problem: "a title has at least one letter" })
    yield* (yield* Sessions).name(id, title)
    yield* (yield* Output).out(`Session ${id} is now called: ${printable(title)}\n`)
  }),
  "sessions delete": Effect.fnUntraced(function*({ invocation: { operands: [id = ""] } }) {
    yield* (yield* Sessions).delete(id)
    yield* (yield* Output).out(`Session ${id} is in the trash; \`nimlet sessions restore ${id}\` brings it back.\n`)
  }),
  "sessions restore": Effect.fnUntraced(function*({ invocation: { operands: [id = ""] } }) {
    yield* (yield* Sessions).restore(id)
    yield* (yield* Output).out(`Session ${id} is back.\n`)
  }),
  "sessions fork": (request) => fork(request.invocation.operands[0] ?? "", request),
  "sessions export": (request) => exportTo(request.invocation.operands[0] ?? "", request.invocation.operands[1], request)
}

/** Does what the subcommand says. Gives the exit code: 1 when it could not be done, which has been told then. */
export const arrangeSessions = Effect.fnUntraced(function*(name: SessionCommand, invocation: Invocation, host: Host) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const output = yield* Output
  const failed = (error: SessionFailure) => {
    const remedy = remedyOf(error)
    return Effect.as(output.err(asLines(`nimlet ${name}: ${error.message}${remedy === "" ? "" : `; ${remedy}`}`)), 1)
  }
  return yield* Effect.gen(function*() {
    const settings = yield* loadSettings(path.join(host.home, ".nimlet", "config.json"))
    const folder = sessionFolder(settings, host, path)
    const workspace = yield* fs.realPath(host.cwd).pipe(Effect.orElseSucceed(() => host.cwd))
    yield* Effect.provide(commands[name]({ invocation, host, folder, workspace }), Sessions.layer(folder, host))
    return 0
  }).pipe(Effect.catch((error) => error._tag === "UsageError" ? Effect.fail(error) : failed(error)))
})
