/** What extension programs are measured with: our host, and a bare pipe that does only what it must. */
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { pathToFileURL } from "node:url"

const root = resolve(import.meta.dirname, "../../..")
export const program = join(import.meta.dirname, "extension-program.mjs")

/** A module by its name, as the package in `folder` finds it: the workspace's root depends on none of ours. */
const load = (folder, name) => import(pathToFileURL(createRequire(join(root, folder, "package.json")).resolve(name)).href)

export const { Effect, Layer } = await load("", "effect")
export const actor = await load("packages/extension", "@nimlet/actor")
export const extension = await load("packages/extension", "@nimlet/extension")
const { Extensions, Frontend, Hooks, headless, rootsOf } = extension
const { Sessions } = await load("packages/agent", "@nimlet/session")
const NodeServices = await load("", "@effect/platform-node/NodeServices")

/**
 * Starts `count` extensions with these arguments (or the lists of arguments given) in our host and runs `use` with it: an Effect of
 * `{extensions, hooks, report, startMillis}`. Everything is stopped afterwards.
 */
export const withHost = (programs, use, frontend = headless) => {
  const folder = mkdtempSync(join(tmpdir(), "nimlet-bench-"))
  programs.forEach((args, n) => {
    const own = join(folder, ".nimlet/extensions", `e${String(n).padStart(2, "0")}`)
    mkdirSync(own, { recursive: true })
    writeFileSync(join(own, "extension.json"), JSON.stringify({ name: `e${n}`, command: [process.execPath, program, ...args] }))
  })
  const options = {
    roots: rootsOf({ home: folder, workspace: folder, trusted: false }),
    paths: [],
    workspace: folder,
    sessionId: "bench",
    trusted: false,
    mode: "print",
    logs: folder,
    environment: { PATH: process.env.PATH },
    reservedTools: []
  }
  const work = Effect.gen(function*() {
    const extensions = yield* Extensions
    const hooks = yield* Hooks
    const from = performance.now()
    const report = yield* extensions.start(options)
    const startMillis = performance.now() - from
    if (report.started.length !== programs.length) throw new Error(report.warnings.join("\n"))
    return yield* use({ extensions, hooks, report, startMillis })
  })
  // Entries are stored as the product stores them; of messages all but a few are refused, as when many wait.
  const kept = Effect.gen(function*() {
    const session = yield* (yield* Sessions).create({ workspace: folder })
    let said = 0
    return yield* work.pipe(
      Effect.provideService(extension.EntrySink, (entry) => Effect.ignore(session.append({ type: "extension", ...entry }))),
      Effect.provideService(extension.SessionAccess, { ...extension.SessionAccess.defaultValue(), say: () => Effect.sync(() => ++said > 32 ? "too many wait already" : undefined) })
    )
  })
  const live = Layer.mergeAll(Hooks.layer.pipe(Layer.provideMerge(Extensions.layer)), Sessions.layer(folder)).pipe(Layer.provide(NodeServices.layer))
  return Effect.runPromise(kept.pipe(Effect.scoped, Effect.provide(live), Effect.provideService(Frontend, frontend)))
    .finally(() => rmSync(folder, { recursive: true, force: true }))
}

/** The same program on a bare pipe: `ask(event, payload)` resolves to its reply, `end()` once it is gone. Resolves when it has registered. */
export const barePipe = async (args) => {
  const child = spawn(process.execPath, [program, ...args], { stdio: ["pipe", "pipe", "inherit"], env: { PATH: process.env.PATH } })
  const open = new Map()
  let id = 0
  let rest = ""
  child.stdout.setEncoding("utf8")
  await new Promise((registered) => {
    child.stdout.on("data", (text) => {
      const lines = (rest + text).split("\n")
      rest = lines.pop()
      for (const line of lines) {
        const message = JSON.parse(line)
        if (message.type === "register") registered()
        const settle = open.get(message.id)
        open.delete(message.id)
        settle?.(message)
      }
    })
  })
  return {
    ask: (event, payload) =>
      new Promise((settle) => {
        open.set(String(++id), settle)
        child.stdin.write(`${JSON.stringify({ type: "event", id: String(id), event, payload })}\n`)
      }),
    end: () => new Promise((gone) => child.once("exit", gone).stdin.end())
  }
}

/** Lets the program write for two seconds what `pour` asks for, where nobody reads it. */
export const pourIntoVoid = async (args) => {
  const child = spawn(process.execPath, [program, "--tool", "pour"], { stdio: ["pipe", "ignore", "inherit"], env: { PATH: process.env.PATH } })
  const pour = setInterval(() => child.stdin.write(`${JSON.stringify({ type: "tool", id: "1", name: "pour", arguments: args })}\n`), 200)
  await sleep(2_000)
  clearInterval(pour)
  child.kill("SIGKILL")
}
