/**
 * RPC mode: a program drives nimlet by lines of JSON. Commands come in on standard input; replies, the records of seed 002
 * and, for a client that says `ui`, what a person would see and be asked go out on standard output. The end of the input is
 * a shutdown.
 */
import { type Cause, Deferred, Effect, FileSystem, Path, Queue, Result, type Scope, Stdio, Stream } from "effect"
import { EventSink, type QueueMode, type UserInput } from "@nimlet/agent"
import { LineDecoder } from "@nimlet/extension"
import { type AgentEvent, decodeRpcCommand } from "@nimlet/protocol"
import type { Output } from "../Output.ts"
import { saveSetting } from "../SettingsFile.ts"
import type { Mode } from "./Mode.ts"
import { type AgentCommand, type FrontCommand, makeRpcCommands } from "./RpcCommands.ts"
import { makeRpcJobs } from "./RpcJobs.ts"
import { makeRpcQuestions } from "./RpcQuestions.ts"
import { makeRpcWriter, withOpenIds } from "./RpcWriter.ts"

/** How many commands may wait for the agent; whoever sends more waits with them. */
const waiting = 256

/** How long extensions are not started yet, so that they can be told whether somebody answers. */
const greeting = "1 second"

/** What RPC mode needs: where to write, the person's settings file, and what it says it is. */
export interface RpcOptions {
  readonly output: Output["Service"]
  readonly settingsFile: string
  readonly version: string
}

/** RPC mode over our standard input and output. */
export const makeRpcMode = Effect.fnUntraced(function*(
  { output, settingsFile, version }: RpcOptions
): Effect.fn.Return<Mode, never, Stdio.Stdio | Scope.Scope | FileSystem.FileSystem | Path.Path> {
  const stdio = yield* Stdio.Stdio
  const scope = yield* Effect.scope
  const files = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  const commands = yield* Queue.bounded<AgentCommand, Cause.Done>(waiting)
  const opened = yield* Deferred.make<void>()
  const greeted = yield* Deferred.make<void>()
  const modes: { steering?: QueueMode; followUp?: QueueMode } = {}
  let ui = false
  let session = ""
  let failed = false
  /** Something of this session has told that not all went well. */
  let faulted = false

  const plain = makeRpcWriter((text) => output.out(`${text}\n`), () => ui)
  const writer = withOpenIds(plain)
  const publish = (event: AgentEvent) =>
    Effect.suspend(() => {
      // Whoever interrupts a turn knows that it has not come to its end.
      failed ||= event.type === "error" && event.message !== "Interrupted"
      faulted ||= event.type === "error" || event.type === "diagnostic" && event.level === "error"
      return writer.event(event)
    })
  const jobs = makeRpcJobs(scope, writer, publish)
  const questions = makeRpcQuestions({
    attended: () => ui,
    record: writer.ui,
    approval: (request_id, request) => {
      const { arguments: args, canRemember, preview, project, reason, summary, tool } = request
      const call = jobs.callOf(request)
      const { input, type: _, ...about } = call ?? { type: "", session_id: "", turn_id: "", run_id: "", step: -1, tool_id: request_id, tool_name: tool, input: args }
      return writer.event({ type: "approval_required", ...about, input, can_remember: canRemember }, {
        request_id,
        arguments: args,
        summary,
        ...(project === true ? { project } : {}),
        ...(preview === undefined ? {} : { preview }),
        ...(reason === undefined ? {} : { reason })
      })
    }
  })

  const front = (command: FrontCommand) => {
    if (command.type !== "initialize") {
      return Effect.flatMap(questions.reply(command), (error) =>
        writer.reply(command.id, error === undefined ? { ok: true } : { ok: false, error }))
    }
    ui = command.ui ?? false
    return Effect.andThen(
      ui ? Effect.void : questions.abandon,
      Effect.flatMap(Deferred.await(opened), () => writer.reply(command.id, { ok: true, state: "initialized", session_id: session, ui, nimlet: version }))
    )
  }

  const take = (line: Result.Result<string, { readonly limit: number }>) => {
    const decoded = Result.isSuccess(line)
      ? decodeRpcCommand(line.success)
      : Result.fail({ id: "", error: `Command is longer than ${line.failure.limit} bytes.` })
    if (Result.isFailure(decoded)) return writer.reply(decoded.failure.id, { ok: false, error: decoded.failure.error })
    const command = decoded.success
    if (!writer.open(command.id)) return plain.reply(command.id, { ok: false, error: `id '${command.id}' is in use: a request of that id is not over yet.` })
    if (command.type === "shutdown") return Effect.andThen(output.part, Queue.offer(commands, command))
    return command.type === "initialize" || command.type === "approve" || command.type === "answer"
      ? front(command)
      : Effect.asVoid(Queue.offer(commands, command))
  }

  const listen = stdio.stdin.pipe(
    Stream.mapAccum(() => new LineDecoder(), (decoder: LineDecoder, chunk) => [decoder, decoder.push(chunk)] as const, {
      onHalt: (decoder) => decoder.end()
    }),
    Stream.runForEach((line) => Effect.ensuring(take(line), Deferred.succeed(greeted, undefined))),
    // Input that cannot be read has ended.
    Effect.ignore,
    Effect.andThen(output.part),
    Effect.andThen(Effect.suspend(() => {
      ui = false
      return questions.abandon
    })),
    Effect.andThen(Queue.end(commands)),
    Effect.ensuring(Deferred.succeed(greeted, undefined))
  )

  const open = (session_id: string) =>
    Effect.suspend(() => {
      session = session_id
      return writer.event({ type: "session_start", session_id })
    })
  const close = (session_id: string) =>
    Effect.suspend(() => {
      const success = !failed
      const told = success || faulted ? Effect.void : publish({ type: "diagnostic", level: "error", message: "Interrupted" })
      failed = false
      faulted = false
      return Effect.andThen(told, writer.event({ type: "session_end", session_id, success }))
    })
  const idle = yield* Deferred.make<(input: UserInput) => Effect.Effect<void>>()

  return {
    name: "rpc",
    sink: { publish },
    frontend: {
      get interactive() {
        return ui
      },
      ...questions.frontend,
      notify: (level, message, extension) => {
        const about = { level, message, ...(extension === undefined ? {} : { extension }) }
        return ui ? writer.ui({ version: 1, type: "notice", ...about }) : publish({ type: "diagnostic", ...about })
      },
      status: (key, segments) => writer.ui({ version: 1, type: "status", key, segments }),
      widget: (key, widget) => writer.ui({ version: 1, type: "widget", key, widget: widget ?? null })
    },
    notice: (message) => ui ? writer.ui({ version: 1, type: "notice", level: "info", message }) : output.err(`${message}\n`),
    opened: (id) => Effect.andThen(open(id), Effect.andThen(Deferred.succeed(opened, undefined), Effect.forkIn(listen, scope))),
    greeted: Effect.asVoid(Effect.timeoutOption(Deferred.await(greeted), greeting)),
    switched: (from, to) => Effect.andThen(close(from), open(to)),
    refused: (message) => {
      failed = true
      return publish({ type: "diagnostic", level: "error", message })
    },
    // Whoever ends us by a signal ends it before it has come to its own end.
    closed: (id, { success }) => {
      failed ||= !success
      return close(id)
    },
    queues: (settings) => Object.assign(modes, settings),
    leave: Effect.asVoid(Queue.end(commands)),
    onIdleInput: (input) => Effect.flatMap(Deferred.await(idle), (run) => run(input)),
    converse: Effect.fnUntraced(function*(conversing) {
      yield* Deferred.succeed(idle, (input) => jobs.run(conversing.agent, input))
      const save = (key: string, value: string) => Effect.provideContext(saveSetting(settingsFile, ["agent", key], value), files)
      const { answered, obey, stop } = yield* makeRpcCommands({ conversing, jobs, writer, modes, save, scope })
      const step = Effect.flatMap(Queue.take(commands), obey)
      // What came with the last command.
      const rest = Effect.andThen(Effect.yieldNow, Effect.flatMap(Queue.clear(commands), (all) => Effect.forEach(all, obey, { discard: true })))
      // What waits is said no more.
      const takenBack = Effect.provideService(conversing.agent.clearQueued, EventSink, { publish })
      yield* Effect.ignore(Effect.repeat(step, { until: (last) => last })).pipe(
        // Who still says something while the last turn ends is answered, too.
        Effect.andThen(Effect.ignore(rest)),
        Effect.andThen(Effect.forkScoped(Effect.ignore(Effect.forever(step)))),
        Effect.ensuring(stop.pipe(Effect.andThen(jobs.end), Effect.andThen(answered), Effect.andThen(takenBack)))
      )
      return { success: true, text: "" }
    })
  }
})
