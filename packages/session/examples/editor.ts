import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Fiber, Layer, Stream } from "effect"
import { isUser, Sessions, wordsOf } from "@nimlet/session"

/** Writes a session, reads it, follows it while it grows, goes back in a copy, and makes a page of that. */
export const edit = Effect.fnUntraced(function*(workspace: string) {
  const sessions = yield* Sessions
  const say = (text: string) => ({ type: "user", role: "user", content: [{ type: "text", text }] }) as const

  const session = yield* sessions.create({ workspace, persist: true })
  yield* session.append(say("hello"))
  const following = yield* sessions.follow(session.id).pipe(Stream.filter(isUser), Stream.map(wordsOf), Stream.take(2), Stream.runCollect, Effect.forkChild)
  yield* session.append(say("and more"))
  yield* session.close

  const { damaged, entries } = yield* sessions.read(session.id)
  const copy = yield* sessions.copy(session.id, { message: 2 })
  yield* sessions.name(copy.id, "Back at the beginning")
  const page = yield* sessions.export(copy.id, { folder: workspace })
  return { followed: yield* Fiber.join(following), entries: entries.length, damaged: damaged.length, unsaid: copy.text, page }
}, Effect.scoped)

if (import.meta.main) {
  const folder = process.argv[2] ?? process.cwd()
  const program = Effect.flatMap(edit(folder), Console.log)
  Effect.runPromise(Effect.provide(program, Layer.provideMerge(Sessions.layer(`${folder}/sessions`), NodeServices.layer)))
}
