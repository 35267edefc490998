/** `pi.exec`: programs run by the host, so that they end with what asked for them (seed 004, "Tool Definition"). */
import { Effect, Option, Stream } from "effect"
import { ChildProcess, type ChildProcessSpawner } from "effect/process"
import type { JsonObject } from "@nimlet/protocol"

/** Bytes of each stream that are kept unless the call says otherwise. */
const usualBuffer = 256 * 1024 * 1024

const collect = <E, R>(from: Stream.Stream<Uint8Array, E, R>, limit: number) => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  const run = Stream.runForEach(from, (chunk) =>
    Effect.sync(() => {
      if (size < limit) chunks.push(chunk.subarray(0, limit - size))
      size += chunk.length
    })).pipe(Effect.ignore)
  return { run, text: () => Buffer.concat(chunks).toString("utf8"), cut: () => size > limit }
}

/** Signal numbers that exit codes of killed programs are made of. */
const signals: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGABRT: 6, SIGKILL: 9, SIGSEGV: 11, SIGPIPE: 13, SIGTERM: 15 }
const codeOf = (error: { readonly message: string; readonly cause?: unknown }): number =>
  128 + (signals[/SIG[A-Z]+/.exec(`${error.message} ${String(error.cause)}`)?.[0] ?? "SIGTERM"] ?? 15)

/**
 * Runs a program without a shell and without input. It never fails: what cannot be started has code 1. After `timeout`
 * milliseconds, and when it is interrupted, the program and its group get SIGTERM, and SIGKILL 5 s later.
 */
export const exec = (
  params: JsonObject,
  where: { readonly cwd: string; readonly environment: Readonly<Record<string, string>> }
): Effect.Effect<JsonObject, never, ChildProcessSpawner.ChildProcessSpawner> => {
  const { args, command, cwd, max_buffer, timeout } = params
  const limit = typeof max_buffer === "number" ? max_buffer : usualBuffer
  const words = Array.isArray(args) ? args.map(String) : []
  return Effect.gen(function*() {
    const child = yield* ChildProcess.make(String(command), words, {
      cwd: typeof cwd === "string" ? cwd : where.cwd,
      env: where.environment,
      extendEnv: false,
      detached: true,
      stdin: "ignore",
      killSignal: "SIGTERM",
      forceKillAfter: "5 seconds"
    })
    const out = collect(child.stdout, limit)
    const err = collect(child.stderr, limit)
    const code = Effect.match(child.exitCode, { onFailure: codeOf, onSuccess: (code): number => code })
    const whole = Effect.map(Effect.all([code, out.run, err.run], { concurrency: "unbounded" }), ([code]) => code)
    const ended = yield* typeof timeout === "number" && timeout > 0 ? Effect.timeoutOption(whole, timeout) : Effect.asSome(whole)
    const killed = Option.isNone(ended)
    if (killed) yield* Effect.ignore(child.kill())
    return {
      stdout: out.text(),
      stderr: err.text(),
      code: Option.getOrElse(ended, () => 143),
      killed,
      truncated: out.cut() || err.cut()
    }
  }).pipe(
    Effect.scoped,
    Effect.catch((error) => Effect.succeed({ stdout: "", stderr: error.message, code: 1, killed: false, truncated: false }))
  )
}
