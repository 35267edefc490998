/** ripgrep: the npm package's program, else `rg` on the PATH. */
import { Effect } from "effect"
import { RipgrepMissing } from "../OperationError.ts"
import type { Processes, Search } from "../Operations.ts"

/** The program that comes with `@vscode/ripgrep`, imported when first wanted: the product's bundle does not hold it. */
export const importedRipgrep: Effect.Effect<string, unknown> = Effect.tryPromise(() => import("@vscode/ripgrep")).pipe(
  Effect.map(({ rgPath }) => rgPath)
)

const orOnPath = (own: Effect.Effect<string, unknown>): Effect.Effect<ReadonlyArray<string>> =>
  own.pipe(Effect.map((own) => [own, "rg"]), Effect.orElseSucceed(() => ["rg"]))

/** Where ripgrep may be, the best first. None of them need be there. */
export const ripgrepPrograms: Effect.Effect<ReadonlyArray<string>> = orOnPath(importedRipgrep)

/** Search through `processes`. What was found is kept; a search for it that failed is made again. */
export const makeLocalSearch = (processes: Processes, ripgrep: Effect.Effect<string, unknown>): Search => {
  let found: string | undefined
  const candidates = Effect.suspend(() => found === undefined ? orOnPath(ripgrep) : Effect.succeed([found]))
  return {
    ripgrep: Effect.fnUntraced(function*(request) {
      for (const command of yield* candidates) {
        const exit = yield* processes.run({ ...request, command }).pipe(
          Effect.catchIf((error) => error.missing, () => Effect.undefined)
        )
        if (exit === undefined) continue
        found = command
        return exit
      }
      found = undefined
      return yield* new RipgrepMissing()
    })
  }
}
