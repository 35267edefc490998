import * as NodeServices from "@effect/platform-node/NodeServices"
import { Deferred, Effect, Exit, FileSystem, Layer, Path, Queue } from "effect"
import { existsSync, readFileSync } from "node:fs"
import {
  type Answer,
  type Confirmation,
  type Diagnostic,
  Diagnostics,
  type ExtensionEntry,
  EntrySink,
  Extensions,
  type FamilyPolicy,
  Frontend,
  type FrontendShape,
  headless,
  Hooks,
  Memory,
  nimlet,
  SessionAccess,
  type SessionAccessShape,
  type StartOptions
} from "../src/index.ts"
import { settle } from "./settle.ts"

export type Json = Record<string, unknown>

/** A temporary folder of extensions: name → manifest. The command of a scripted peer is its name, unless given. */
export const extensionFolder = Effect.fnUntraced(function*(manifests: Record<string, Json>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
  for (const [name, manifest] of Object.entries(manifests)) {
    yield* fs.makeDirectory(path.join(folder, "extensions", name), { recursive: true })
    const whole = { name, command: [name], ...manifest }
    yield* fs.writeFileString(path.join(folder, "extensions", name, "extension.json"), JSON.stringify(whole))
  }
  return folder
})

export interface Options {
  readonly manifests: Record<string, Json>
  readonly family?: FamilyPolicy
  readonly start?: Partial<StartOptions>
}

export const optionsFor = (folder: string, { family = nimlet, start = {} }: Omit<Options, "manifests"> = {}): StartOptions => ({
  roots: [{ path: `${folder}/extensions`, family, project: false }],
  paths: [],
  workspace: folder,
  sessionId: "s1",
  trusted: true,
  mode: "print",
  logs: `${folder}/logs`,
  environment: { PATH: process.env.PATH ?? "" },
  reservedTools: ["read", "bash"],
  ...start
})

/** Starts the extensions of the manifests and returns all there is to watch. */
export const startAll = Effect.fnUntraced(function*(options: Options) {
  const folder = yield* extensionFolder(options.manifests)
  const extensions = yield* Extensions
  const hooks = yield* Hooks
  const diagnostics: Array<Diagnostic> = []
  const entries: Array<ExtensionEntry> = []
  const watched = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      Effect.provideService(Diagnostics, (diagnostic) => Effect.sync(() => void diagnostics.push(diagnostic))),
      Effect.provideService(EntrySink, (entry) => Effect.sync(() => void entries.push(entry)))
    )
  const start = watched(extensions.start(optionsFor(folder, options)))
  return { folder, extensions, hooks, diagnostics, entries, start, watched }
})

const hooked = (extensions: typeof Extensions.layer | Layer.Layer<Extensions>) =>
  Hooks.layer.pipe(Layer.provideMerge(extensions), Layer.provideMerge(NodeServices.layer))

/** The host over scripted peers. */
export const memory = (scripts: Readonly<Record<string, Memory.Script>>) =>
  Hooks.layer.pipe(
    Layer.provideMerge(Extensions.layerNoDeps.pipe(Layer.provide(Memory.layerMemory(scripts)))),
    Layer.provideMerge(NodeServices.layer)
  )

/** The host over child processes. */
export const processes = hooked(Extensions.layer)

/** A peer that registers, remembers what it hears, and reacts as told. */
export const peer = (
  register: Json,
  react: (message: Json, peer: Memory.Peer) => Effect.Effect<unknown, unknown> = () => Effect.void
) => {
  const heard: Array<Json> = []
  const arrived = Effect.runSync(Queue.unbounded<Json>())
  const script: Memory.Script = (self) =>
    Effect.gen(function*() {
      yield* self.send({ type: "register", commands: [], ...register })
      for (;;) {
        const message = yield* self.receive
        heard.push(message)
        yield* Queue.offer(arrived, message)
        if (message.type === "shutdown") return
        yield* react(message, self)
      }
    })
  return { script, heard, next: Queue.take(arrived), types: () => heard.map((message) => message.type) }
}

/** The same peer, that begins only after some time; `launched` says that it has been started and the time runs. */
export const slowly = ({ script }: { readonly script: Memory.Script }, millis: number) => {
  const begun = Deferred.makeUnsafe<void>()
  const late: Memory.Script = (self, launch) =>
    Effect.andThen(Deferred.succeed(begun, undefined), Effect.andThen(Effect.sleep(millis), script(self, launch)))
  return { script: late, launched: Effect.andThen(Deferred.await(begun), settle) }
}

/** Answers every request with `fields`. */
export const answering = (fields: Json | ((message: Json) => Json)) => (message: Json, self: Memory.Peer) =>
  typeof message.id === "string" && message.type !== "cancel" && message.type !== "ui_response"
    ? self.send({ type: "response", id: message.id, ...(typeof fields === "function" ? fields(message) : fields) })
    : Effect.void

/** Whether a process runs; signal 0 only looks. One that has ended but was not collected by its new parent does not. */
export const alive = (pid: number) =>
  Exit.isSuccess(Effect.runSyncExit(Effect.sync(() => process.kill(pid, 0)))) &&
  !(existsSync(`/proc/${pid}/stat`) && / Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8")))

/** A tool of a registration. */
export const tool = (name: string, more: Json = {}) => ({ name, description: `${name}.`, input_schema: { type: "object" }, ...more })

/** What a widget of plain lines is drawn as. */
export const plainWidget = (...texts: ReadonlyArray<string>) => ({
  title: "",
  position: "above_composer",
  content: texts.map((text) => ({ type: "text", text })),
  actions: []
})

/** Someone in front: what is asked waits until the test answers it, what is shown is remembered. */
export const person = (over: Partial<FrontendShape> = {}) => {
  const asked: Array<Json> = []
  const withdrawn: Array<string> = []
  const shown: Array<ReadonlyArray<unknown>> = []
  const waiting: Array<Deferred.Deferred<Json>> = []
  const show = (...what: ReadonlyArray<unknown>) => Effect.sync(() => void shown.push(what))
  const wait = (kind: string, request: object): Effect.Effect<any> =>
    Effect.suspend(() => {
      const answer = Deferred.makeUnsafe<Json>()
      asked.push({ kind, ...request })
      waiting.push(answer)
      return Effect.onInterrupt(Deferred.await(answer), () => Effect.sync(() => void withdrawn.push(kind)))
    })
  const frontend: FrontendShape = {
    ...headless,
    interactive: true,
    question: (request) => wait("question", request),
    confirm: (request) => wait("confirm", request),
    input: (request) => wait("input", request),
    editor: (request) => wait("editor", request),
    notify: (level, message, extension) => show("notify", level, message, extension),
    status: (key, segments) => show("status", key, segments),
    widget: (key, widget) => show("widget", key, widget),
    ...over
  }
  const answer = (reply: Answer | Confirmation) => Effect.suspend(() => Deferred.succeed(waiting.shift()!, { ...reply }))
  /** How many of those asked were answered or withdrawn. */
  const answered = () => asked.length - waiting.length
  return { frontend, asked, shown, withdrawn, answer, answered, with: Effect.provideService(Frontend, frontend) }
}

/** A session that does what it is told and remembers what it was asked. */
export const sessionOf = (over: Partial<SessionAccessShape> = {}) => {
  const said: Array<unknown> = []
  const session: SessionAccessShape = {
    complete: (_, { prompt }) => Effect.succeed({ text: `about ${prompt}`, model: "m1", finishReason: "stop" }),
    info: Effect.succeed({ id: "s1", name: "title", path: "/s1.jsonl", workspace: "/w", eventCount: 3 }),
    name: (title) => Effect.succeed(title ?? "title"),
    usage: Effect.succeed({ tokens: 10, limit: 100, percent: 10 }),
    say: (extension, message) => Effect.sync(() => void said.push([extension, message])),
    ...over
  }
  return { said, with: Effect.provideService(SessionAccess, session) }
}
