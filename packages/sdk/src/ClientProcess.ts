/**
 * The nimlet process of a client. A program that uses the client may have no platform of Effect, so this one file starts
 * it by Node itself.
 */
import { Effect, type Scope, Stream } from "effect"
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { statSync } from "node:fs"
import nodeProcess from "node:process"
import type { Readable, Writable } from "node:stream"
import { ClientClosed } from "./ClientError.ts"

/** How to start nimlet. */
export interface ProcessOptions {
  /** The program; default `NIMLET_BIN`, else `nimlet`. One that ends in `.mjs` or `.js` is run by this Node. */
  readonly bin?: string
  /** Flags of the run, as `--provider`. */
  readonly args?: ReadonlyArray<string>
  /** The folder it works in; default the present one. */
  readonly cwd?: string
  /** The whole environment; default ours. */
  readonly env?: Readonly<Record<string, string>>
}

/** A nimlet that reads and writes lines. */
export interface ClientProcess {
  /** Writes a line, and returns when there is room for the next. After the end of the process it does nothing. */
  readonly send: (line: string) => Effect.Effect<void>
  /** What it writes, a line each, to be taken once. */
  readonly lines: Stream.Stream<string>
  /** Returns when the process has ended, and says how. */
  readonly ended: Effect.Effect<ClientClosed>
  /** Ends its input, waits for its end, and ends it when it takes too long; returns then. */
  readonly close: Effect.Effect<void>
}

/** Between the end of its input and SIGTERM: nimlet gives extensions 4.5 s to go. Then it has as long again before SIGKILL. */
const patience = "6 seconds"
/** How much of its stderr is kept, in characters. */
const kept = 4000

type Child = ChildProcessByStdio<Writable, Readable, Readable>

/** Starts nimlet in RPC mode. When the scope closes its input ends, and it is waited for, then ended. Never fails: see `ended`. */
export const openProcess = Effect.fnUntraced(function*(
  { args = [], bin = nodeProcess.env["NIMLET_BIN"] ?? "nimlet", cwd, env }: ProcessOptions
): Effect.fn.Return<ClientProcess, never, Scope.Scope> {
  const script = /\.[cm]?js$/.test(bin)
  const words = [...(script ? [bin] : []), "--mode", "rpc", ...args]
  let stderr = ""
  let how: string | undefined
  const watchers = new Set<() => void>()
  const child: Child = spawn(script ? nodeProcess.execPath : bin, words, { stdio: ["pipe", "pipe", "pipe"], cwd, env: env ?? nodeProcess.env })
  const over = (reason: string) => {
    how ??= reason
    for (const watcher of watchers) watcher()
    watchers.clear()
  }
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-kept)
  })
  child.stdin.on("error", () => {})
  child.on("error", (error) => {
    // A folder that is not there is told as if the program were not.
    const lacks = cwd !== undefined && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true
    over(`could not be started: ${lacks ? `${cwd}, the folder to work in, is no folder` : error.message}`)
  })
  child.on("close", (code, signal) => over(signal === null ? `ended with code ${code}` : `was ended by ${signal}`))

  const ended = Effect.callback<ClientClosed>((resume) => {
    const done = () => resume(Effect.succeed(new ClientClosed({ reason: how ?? "ended", stderr })))
    if (how !== undefined) return done()
    watchers.add(done)
    return Effect.sync(() => watchers.delete(done))
  })
  const signal = (name: "SIGTERM" | "SIGKILL") => Effect.andThen(Effect.sync(() => child.kill(name)), Effect.timeoutOption(ended, patience))
  const close = Effect.suspend(() => {
    child.stdin.end()
    // Where nobody reads, a full pipe must not keep it from ending.
    child.stdout.resume()
    return Effect.timeoutOption(ended, patience)
  }).pipe(
    Effect.andThen(Effect.suspend(() => how === undefined ? signal("SIGTERM") : Effect.void)),
    Effect.andThen(Effect.suspend(() => how === undefined ? signal("SIGKILL") : Effect.void))
  )
  yield* Effect.addFinalizer(() => how === undefined ? close : Effect.void)

  return {
    send: (line) =>
      Effect.callback<void>((resume) => {
        child.stdin.write(`${line}\n`, () => resume(Effect.void))
      }),
    lines: Stream.fromAsyncIterable<Uint8Array, undefined>(child.stdout, () => undefined).pipe(
      Stream.decodeText(),
      Stream.splitLines,
      Stream.catch(() => Stream.empty)
    ),
    ended,
    close: Effect.asVoid(close)
  }
})
