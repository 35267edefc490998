/** A scripted session around extensions of the pi API: what they show, ask and call is remembered, what they read is given. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer } from "effect"
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { layerLauncher } from "@nimlet/atomic"
import { AtomicSession, type AtomicSessionShape, type Diagnostic, Diagnostics, Extensions, Frontend, type FrontendShape, headless, Hooks, type StartReport } from "@nimlet/extension"

type Json = Record<string, any>

/** What a session is given. */
export interface WorldOptions {
  readonly paths: ReadonlyArray<string>
  /** Answers a question; undefined leaves it open. Without it nobody is there. */
  readonly answer?: (kind: string, prompt: string, options: ReadonlyArray<string>) => string | boolean | undefined
  readonly state?: Json
  /** Results of calls by method. */
  readonly calls?: Readonly<Record<string, Json>>
  readonly flags?: Json
}

/** A session that runs. */
export interface World {
  readonly report: StartReport
  readonly folder: string
  readonly state: Json
  readonly diagnostics: ReadonlyArray<Diagnostic>
  /** Everything shown, as `kind what…`. */
  readonly shown: ReadonlyArray<string>
  readonly asked: ReadonlyArray<string>
  readonly called: ReadonlyArray<readonly [method: string, params: Json]>
  readonly command: (name: string, args?: string) => Effect.Effect<unknown>
  readonly tool: (name: string, args?: Json, updates?: Array<string>) => Effect.Effect<Json>
  readonly fire: (event: string, payload?: Json) => Effect.Effect<Json>
  readonly extensions: Extensions["Service"]
  readonly git: (...args: ReadonlyArray<string>) => string
  /** Waits, at most 8 s, until something that has been remembered holds. */
  readonly until: (holds: () => boolean) => Effect.Effect<boolean>
}

const dist = pathToFileURL(join(import.meta.dirname, "../../apps/cli/dist/")).href

/** Runs `use` with a session over the built worker half; all of it ends with it. */
export const withWorld = <A>(options: WorldOptions, use: (world: World) => Effect.Effect<A, unknown>): Promise<A> => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pi-world-")))
  const folder = join(root, "work")
  mkdirSync(folder)
  const state: Json = { entries: [], labels: {}, tools: [], active_tools: [], commands: [], models: [], flags: options.flags ?? {}, idle: true, ...options.state }
  const shown: Array<string> = []
  const asked: Array<string> = []
  const called: Array<readonly [string, Json]> = []
  const diagnostics: Array<Diagnostic> = []
  const show = (...what: ReadonlyArray<unknown>) => Effect.sync(() => void shown.push(what.map((each) => typeof each === "string" ? each : JSON.stringify(each)).join(" ")))
  const reply = (kind: string, prompt: string, choices: ReadonlyArray<string> = []): Effect.Effect<any> =>
    Effect.suspend(() => {
      asked.push(`${kind} ${prompt}`)
      const given = options.answer?.(kind, prompt, choices)
      if (given === undefined) return Effect.never
      return Effect.succeed(typeof given === "boolean" ? { cancelled: false, confirmed: given } : { cancelled: false, answer: given })
    })
  const frontend: FrontendShape = {
    ...headless,
    interactive: options.answer !== undefined,
    question: ({ options: choices, prompt }) => reply("select", prompt, choices),
    confirm: ({ prompt }) => reply("confirm", prompt),
    input: ({ prompt }) => reply("input", prompt),
    editor: ({ text, title }) => reply("editor", title, [text]),
    notify: (level, message) => show("notify", level, message),
    status: (key, segments) => show("status", key, segments.map(({ text }) => text).join("")),
    widget: (key, widget) => show("widget", key, widget?.content.map((each) => "text" in each ? each.text : each.type).join("|") ?? "gone")
  }
  const session: AtomicSessionShape = {
    read: (key) => state[key],
    call: (_, method, params) => Effect.sync(() => {
      called.push([method, params])
      return options.calls?.[method] ?? {}
    }),
    show: (_, aspect, value) => show(aspect, value)
  }
  const environment = { PATH: process.env["PATH"] ?? "", HOME: root, GIT_CONFIG_NOSYSTEM: "1", GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@a", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@a" }
  const layer = Hooks.layer.pipe(
    Layer.provideMerge(Extensions.layerNoDeps.pipe(Layer.provide(layerLauncher({
      cache: join(root, "cache"),
      files: { entry: new URL("worker.mjs", dist), module: (name) => new URL(`worker-${name}.mjs`, dist) }
    })))),
    Layer.provideMerge(NodeServices.layer)
  )
  const place = { session_id: "s1", workspace: folder }
  const program = Effect.gen(function*() {
    const extensions = yield* Extensions
    const hooks = yield* Hooks
    const report = yield* extensions.start({
      roots: [],
      paths: options.paths,
      workspace: folder,
      sessionId: "s1",
      trusted: true,
      mode: "rpc",
      logs: join(root, "logs"),
      environment,
      reservedTools: ["read", "bash", "edit", "write", "grep", "ls"]
    })
    const world: World = {
      report, folder, state, diagnostics, shown, asked, called, extensions,
      command: (name, args = "") => Effect.orDie(extensions.runCommand(name, args)),
      tool: (name, args = {}, updates) => Effect.orDie(extensions.callTool(name, args, (text) => Effect.sync(() => void updates?.push(text)))),
      fire: (event, payload = {}) => hooks.run(event as never, { ...place, ...payload } as never),
      git: (...args) => execFileSync("git", args, { cwd: folder, env: environment, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }),
      until: (holds) => Effect.gen(function*() {
        for (let times = 0; times < 400 && !holds(); times++) yield* Effect.sleep(20)
        return holds()
      })
    }
    return yield* use(world)
  }).pipe(
    Effect.provideService(Diagnostics, (diagnostic) => Effect.sync(() => void diagnostics.push(diagnostic))),
    Effect.provideService(Frontend, frontend),
    Effect.provideService(AtomicSession, session),
    Effect.scoped,
    Effect.provide(layer)
  )
  return Effect.runPromise(program).finally(() => rmSync(root, { recursive: true, force: true }))
}
