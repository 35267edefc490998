/** The process: what it was started with goes in, an exit code comes out. The only place that touches `process`. */
import * as NodeChildProcessSpawner from "@effect/platform-node/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import { Cause, Effect, Exit, Fiber, Layer } from "effect"
import { userInfo } from "node:os"
import { ProcessGroups } from "@nimlet/extension"
import { ProcessMarks } from "@nimlet/tools"
import { layerTracked } from "./ChildGroups.ts"
import { main } from "./Cli.ts"
import { layerFiles } from "./Folders.ts"
import type { Host } from "./Host.ts"
import { httpFetch } from "./HttpFetch.ts"
import { ownProcesses } from "./OwnProcesses.ts"

/** A folder that was deleted under us has no name any more. */
const currentFolder = (): string => {
  try {
    return process.cwd()
  } catch {
    process.stderr.write("nimlet could not start: the current folder no longer exists\n")
    return process.exit(1)
  }
}

/** The person's folder. One that is named empty is none: the folder we stand in would pass for it, and its settings for the person's. */
const homeFolder = (): string => {
  const named = process.env["HOME"] || process.env["USERPROFILE"]
  if (named) return named
  try {
    return userInfo().homedir
  } catch {
    process.stderr.write("nimlet could not start: HOME is not set and this user has no home folder; set HOME\n")
    return process.exit(1)
  }
}

/** Whether Node was told to go through the proxies that the environment names, which only its own `fetch` does in every version. */
const proxied = process.env["NODE_USE_ENV_PROXY"] === "1" ||
  [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].some((words) => words.includes("--use-env-proxy"))

const told = Promise.withResolvers<void>()
let unread = false

const host: Host = {
  argv: process.argv.slice(2),
  environment: Object.fromEntries(Object.entries(process.env).flatMap(([name, value]) => value === undefined ? [] : [[name, value]])),
  home: homeFolder(),
  cwd: currentFolder(),
  platform: process.platform,
  node: process.versions.node,
  bin: process.argv[1] ?? "",
  terminal: {
    hideKeys: (hide) => void (process.stdin.isTTY && process.stdin.setRawMode(hide)),
    interrupt: () => void process.kill(process.pid, "SIGINT"),
    // Node notices a turn later that the last listener has gone, and only then lets itself be paused.
    stopReading: () => new Promise((done) => setImmediate(() => {
      process.stdin.pause()
      setImmediate(done)
    })),
    // The whole group of the terminal's foreground, whoever started us: the shell waits for all of it.
    suspend: () => new Promise((done) => {
      if (process.platform === "win32") return done()
      // Nothing else may keep us alive: the terminal is not read meanwhile.
      const alive = setInterval(() => undefined, 60_000)
      process.once("SIGCONT", () => {
        clearInterval(alive)
        done()
      })
      process.kill(0, "SIGTSTP")
    })
  },
  pid: process.pid,
  ending: told.promise,
  lastWords: new Set(),
  giveUpReader: () => void (unread = true),
  fetch: proxied ? globalThis.fetch : httpFetch,
  isAlive: (pid) => {
    try {
      return process.kill(pid, 0)
    } catch (error) {
      // It lives, but is somebody else's.
      return error instanceof Error && "code" in error && error.code === "EPERM"
    }
  }
}

// A reader that has gone away changes nothing for the run; the writers notice by themselves.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {})

// Of Node's services all but the terminal, which would have a run load what only the help of subcommands asks of it.
const machine = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeStdio.layer)
const platform = Layer.provideMerge(NodeChildProcessSpawner.layer, machine)

const groups = new Set<number>()
const marks = new Set<string>()
const services = Layer.mergeAll(Layer.provideMerge(layerTracked(groups), platform), Layer.succeed(ProcessGroups, groups), Layer.succeed(ProcessMarks, marks))
const fiber = Effect.runFork(Effect.provide(main(host), Layer.provideMerge(layerFiles, services)))

const kill = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // It has ended by itself.
  }
}

/** Says what is owed and ends, with what of ours is left. */
const leave = (code: number): never => {
  for (const text of host.lastWords) process.stdout.write(text)
  for (const pid of groups) kill(-pid)
  return process.exit(code)
}

/** Ends at once, when nothing was closed in order, and takes along what we started, also what has left its group. */
const exitNow = (code: number): never => {
  // Twice: one that was starting another may not have been seen with it.
  for (let round = 0; round < 2; round++) for (const pid of ownProcesses(process.pid, marks)) kill(pid)
  return leave(code)
}

/** Longer than extensions are given to go (4.5 s), in milliseconds. */
const leaving = 4_900
/** A closing terminal sends SIGHUP several times, within milliseconds: that is one. */
const sameHangup = 300
const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
let signalled: { readonly code: number; readonly at: number } | undefined
for (const [signal, code] of Object.entries(signals)) {
  process.on(signal, () => {
    const at = performance.now()
    // The first one ends the run in order, a second one at once.
    if (signalled !== undefined) return code === signals.SIGHUP && at - signalled.at < sameHangup ? undefined : exitNow(code)
    signalled = { code, at }
    // What does not let itself be ended, such as a file that never answers, shall not keep the person waiting.
    setTimeout(() => exitNow(code), leaving).unref()
    told.resolve()
    Effect.runFork(Fiber.interrupt(fiber))
  })
}

/** A fault that nobody was there to catch: what was opened is closed in order, the terminal above all, and then it is told. */
let crash: { readonly error: unknown } | undefined
process.on("uncaughtException", (error) => {
  // A second one while we leave: nothing can be relied on any more.
  if (crash !== undefined) return exitNow(1)
  crash = { error }
  setTimeout(() => exitNow(1), leaving).unref()
  told.resolve()
  Effect.runFork(Fiber.interrupt(fiber))
})

/** Settles when a stream has handed on what was written to it, or never will. */
const flushed = (stream: NodeJS.WriteStream): Promise<void> => new Promise((done) => stream.write("", () => done()))

fiber.addObserver((exit) => {
  if (crash !== undefined) process.stderr.write(`nimlet crashed: ${crash.error instanceof Error ? crash.error.stack ?? crash.error.message : String(crash.error)}\n`)
  if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)) process.stderr.write(`${Cause.pretty(exit.cause)}\n`)
  // What an extension or a connection left open shall not keep the process alive.
  const code = signalled?.code ?? (Exit.isSuccess(exit) && crash === undefined ? exit.value : 1)
  void Promise.all([process.stdout, process.stderr].map(flushed)).then(() => leave(code))
  if (signalled !== undefined || crash !== undefined || unread) setTimeout(leave, 500, code)
})
