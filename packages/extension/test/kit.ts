import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Exit, FileSystem, Layer, Path, Queue } from "effect"
import { existsSync, readFileSync } from "node:fs"
import {
  type Diagnostic,
  Diagnostics,
  type ExtensionEntry,
  EntrySink,
  Extensions,
  type FamilyPolicy,
  Hooks,
  Memory,
  nimlet,
  type StartOptions
} from "../src/index.ts"

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

/** Answers every request with `fields`. */
export const answering = (fields: Json | ((message: Json) => Json)) => (message: Json, self: Memory.Peer) =>
  typeof message.id === "string" && message.type !== "cancel" && message.type !== "ui_response"
    ? self.send({ type: "response", id: message.id, ...(typeof fields === "function" ? fields(message) : fields) })
    : Effect.void

/** Whether a process runs; signal 0 only looks. One that has ended but was not collected by its new parent does not. */
export const alive = (pid: number) =>
  Exit.isSuccess(Effect.runSyncExit(Effect.sync(() => process.kill(pid, 0)))) &&
  !(existsSync(`/proc/${pid}/stat`) && / Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8")))
