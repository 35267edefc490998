import * as NodeServices from "@effect/platform-node/NodeServices"
import { vi } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { AtomicSession, type AtomicSessionShape, type Diagnostic, Diagnostics, Extensions, Frontend, type FrontendShape, headless, Hooks, nimlet, type StartOptions } from "@nimlet/extension"
import { layerLauncher, type LauncherOptions } from "../src/index.ts"

// Threads that load TypeScript start slowly beside other tests.
vi.setConfig({ testTimeout: 30_000 })

export type Json = Record<string, unknown>

/** Hooks over real workers; the cache lies in the test's home. */
export const workers = (options: Partial<LauncherOptions> = {}) =>
  Hooks.layer.pipe(
    Layer.provideMerge(Extensions.layerNoDeps.pipe(Layer.provide(layerLauncher({ cache: `${process.env.HOME}/cache`, ...options })))),
    Layer.provideMerge(NodeServices.layer)
  )

/** A frontend that remembers what it shows and answers by a function; without one nobody is there. */
export const screen = (answer?: (kind: string, prompt: string, options: ReadonlyArray<string>) => string | boolean | undefined) => {
  const shown: Array<ReadonlyArray<unknown>> = []
  const asked: Array<string> = []
  const show = (...what: ReadonlyArray<unknown>) => Effect.sync(() => void shown.push(what))
  const reply = (kind: string, prompt: string, options: ReadonlyArray<string> = []): Effect.Effect<any> =>
    Effect.suspend(() => {
      asked.push(`${kind}: ${prompt}`)
      const given = answer?.(kind, prompt, options)
      if (given === undefined) return Effect.never
      return Effect.succeed(typeof given === "boolean" ? { cancelled: false, confirmed: given } : { cancelled: false, answer: given })
    })
  const frontend: FrontendShape = {
    ...headless,
    interactive: answer !== undefined,
    question: ({ options, prompt }) => reply("select", prompt, options),
    confirm: ({ prompt }) => reply("confirm", prompt),
    input: ({ prompt }) => reply("input", prompt),
    editor: ({ title }) => reply("editor", title),
    notify: (level, message) => show("notify", level, message),
    status: (key, segments) => show("status", key, segments.map(({ text }) => text).join("")),
    widget: (key, widget) => show("widget", key, widget?.content.map((each) => "text" in each ? each.text : each.type))
  }
  return { frontend, shown, asked, notices: () => shown.filter(([kind]) => kind === "notify").map(([, , message]) => message) }
}

export interface Given {
  /** Relative path below the root of extensions → text. */
  readonly files?: Record<string, string>
  readonly paths?: ReadonlyArray<string>
  readonly screen?: ReturnType<typeof screen>
  readonly session?: Partial<AtomicSessionShape>
  readonly start?: Partial<StartOptions>
}

/** How the extensions of a folder are started. */
export const optionsOf = (folder: string, { paths = [], start = {} }: Given = {}): StartOptions => ({
  roots: [{ path: `${folder}/extensions`, family: nimlet, project: false }],
  paths,
  workspace: folder,
  sessionId: "s1",
  trusted: true,
  mode: "print",
  logs: `${folder}/logs`,
  environment: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "" },
  reservedTools: ["read", "bash"],
  ...start
})

/** A folder with extensions in a nimlet root, started. */
export const startAll = Effect.fnUntraced(function*(given: Given) {
  const { files = {}, screen: front = screen(), session = {} } = given
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
  for (const [name, text] of Object.entries(files)) {
    const file = `${folder}/extensions/${name}`
    yield* fs.makeDirectory(file.slice(0, file.lastIndexOf("/")), { recursive: true })
    yield* fs.writeFileString(file, text)
  }
  const extensions = yield* Extensions
  const hooks = yield* Hooks
  const diagnostics: Array<Diagnostic> = []
  const atomicSession: AtomicSessionShape = {
    read: () => undefined,
    call: () => Effect.succeed({}),
    show: () => Effect.void,
    ...session
  }
  const watched = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      Effect.provideService(Diagnostics, (diagnostic) => Effect.sync(() => void diagnostics.push(diagnostic))),
      Effect.provideService(Frontend, front.frontend),
      Effect.provideService(AtomicSession, atomicSession)
    )
  const options = optionsOf(folder, given)
  const report = yield* watched(extensions.start(options))
  const log = (name: string) => Effect.orElseSucceed(fs.readFileString(`${folder}/logs/${name}.log`), () => "")
  return { folder, extensions, hooks, diagnostics, report, watched, log, again: watched(extensions.start(options)) }
})

/** Ids every event of a session has. */
export const place = { session_id: "s1", workspace: "/w" }

/** Looks again and again until it holds, for at most 8 s; gives the last look. */
export const until = <A, E, R>(look: Effect.Effect<A, E, R>, holds: (value: A) => boolean): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    for (let times = 0; times < 400; times++) {
      const value = yield* look
      if (holds(value)) return value
      yield* Effect.sleep(20)
    }
    return yield* look
  })
