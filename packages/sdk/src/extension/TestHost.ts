/** A host in memory, for tests of an extension: the same lines, no process, no time of its own. */
import { Cause, Deferred, Effect, Queue, type Scope, Stream } from "effect"
import type { HookName, HookPayload, HookReply, JsonObject } from "@nimlet/protocol"
import { serveExtension, type ServedExtension } from "./Serve.ts"

/** How the host is. */
export interface TestHostOptions {
  readonly workspace?: string
  readonly trusted?: boolean
  readonly mode?: string
  /** What the extension had stored before. */
  readonly entries?: ReadonlyArray<unknown>
  /** Answers a question (`method`, `prompt`, `options`): a text, or for `confirm` a boolean; undefined cancels it. Without it nobody is there. */
  readonly person?: (question: JsonObject) => string | boolean | undefined
  /** Serves a request (`method` and its fields); undefined refuses it. */
  readonly requests?: (request: JsonObject) => JsonObject | undefined
}

/** What a tool gave. */
export interface TestReply {
  readonly content: unknown
  readonly is_error?: boolean
  readonly details?: JsonObject
  readonly terminate?: boolean
}

/** A host that has started one extension. Interrupting an effect cancels its request. */
export interface TestHost {
  /** What it registered, as the line the host reads. */
  readonly registration: JsonObject
  readonly callTool: (name: string, args: JsonObject) => Effect.Effect<TestReply>
  readonly runCommand: (name: string, args?: string) => Effect.Effect<JsonObject>
  readonly fire: <N extends HookName>(event: N, payload: HookPayload<N>) => Effect.Effect<HookReply<N> & { readonly error?: string }>
  /** A person presses an action of a widget. */
  readonly press: (widget: string, action: string, text?: string) => Effect.Effect<void>
  /** Everything it has said beside answers, in order: `update` and `tool_update` lines. */
  readonly said: ReadonlyArray<JsonObject>
}

/** As it would cross the wire; what JSON does not have is gone. */
const crossed = (line: JsonObject): JsonObject => JSON.parse(JSON.stringify(line))

/** Starts the extension; it is stopped when the scope closes. */
export const makeTestHost = Effect.fnUntraced(function*(
  extension: ServedExtension,
  { entries = [], mode = "print", person, requests, trusted = true, workspace = "/workspace" }: TestHostOptions = {}
): Effect.fn.Return<TestHost, never, Scope.Scope> {
  const inbound = yield* Queue.unbounded<JsonObject, Cause.Done>()
  const registered = yield* Deferred.make<JsonObject>()
  const open = new Map<string, Deferred.Deferred<JsonObject>>()
  const said: Array<JsonObject> = []
  let last = 0
  const tell = (line: JsonObject) => Effect.asVoid(Queue.offer(inbound, crossed(line)))

  const answerQuestion = (line: JsonObject): JsonObject => {
    const answer = person?.(line)
    if (answer === undefined) return { cancelled: true }
    return typeof answer === "boolean" ? { confirmed: answer, cancelled: false } : { answer, cancelled: false }
  }
  const hear = Effect.fnUntraced(function*(line: JsonObject) {
    const id = String(line["id"])
    switch (line["type"]) {
      case "register":
        return yield* Deferred.succeed(registered, line)
      case "response": {
        const reply = open.get(id)
        const { id: _id, type: _type, ...fields } = line
        return yield* reply === undefined ? Effect.void : Deferred.succeed(reply, fields)
      }
      case "ui_request":
        return yield* tell({ type: "ui_response", id, ...answerQuestion(line) })
      case "host_request": {
        const result = requests?.(line)
        return yield* tell({ type: "host_response", id, ...(result === undefined ? { error: "host request is unavailable", cancelled: true } : { result }) })
      }
      default:
        said.push(line)
    }
  })
  const send = (line: JsonObject) => Effect.asVoid(hear(crossed(line)))
  yield* Effect.forkScoped(serveExtension(extension, { inbound: Stream.fromQueue(inbound), send }))
  yield* tell({ type: "initialize", version: 1, workspace, session_id: "test", trusted, mode, ui: person !== undefined, entries })
  const registration = yield* Deferred.await(registered)

  const ask = Effect.fnUntraced(function*(line: JsonObject) {
    const id = String(++last)
    const reply = yield* Deferred.make<JsonObject>()
    open.set(id, reply)
    yield* tell({ ...line, id })
    return yield* Deferred.await(reply).pipe(
      Effect.onInterrupt(() => tell({ type: "cancel", id })),
      Effect.ensuring(Effect.sync(() => open.delete(id)))
    )
  })
  return {
    registration,
    said,
    callTool: (name, args) =>
      Effect.map(ask({ type: "tool", name, arguments: args, tool_call_id: `call-${last + 1}` }), ({ content, ...rest }) => ({ content, ...rest })),
    runCommand: (name, args = "") => ask({ type: "command", name, arguments: args }),
    // What it answers is what its types say; a host checks it, a test reads it.
    fire: (event, payload) => Effect.map(ask({ type: "event", event, payload }), (reply) => reply as HookReply<typeof event> & { readonly error?: string }),
    press: (widget, action, text = "") => tell({ type: "ui_action", widget, action, text })
  }
})
