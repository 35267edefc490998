/** A shell command that the user typed for themselves, as extensions of seed 004 see it (`user_bash`): they may refuse it, or have run it. */
import { Effect } from "effect"
import type { CallFailed, Extensions, Hooks } from "@nimlet/extension"
import type { AboutSession } from "./Selection.ts"

/** Runs the command where an extension says; gives its code. `onOutput` receives what it prints, as it comes. */
export type RunElsewhere = (onOutput: (text: string) => Effect.Effect<void>) => Effect.Effect<number, CallFailed>

/** What is to be done with it: run it, run it elsewhere, say why not, or show what an extension made of it. */
export type UserBash =
  | { readonly _tag: "Run" }
  | { readonly _tag: "Elsewhere"; readonly run: RunElsewhere }
  | { readonly _tag: "Refused"; readonly reason: string }
  | { readonly _tag: "Done"; readonly output: string; readonly code: number }

/** Who is asked, and who runs it elsewhere. */
export interface UserBashOptions {
  readonly hooks: Hooks["Service"]
  readonly extensions: Extensions["Service"]
}

/** A command that was ended by a signal has no code of its own. */
const codeOf = (value: unknown): number =>
  typeof value === "object" && value !== null && "exit_code" in value && typeof value.exit_code === "number" ? value.exit_code : 1

/** Asks; `excluded` says that the model is not to see it. */
export const askUserBash = Effect.fnUntraced(function*({ extensions, hooks }: UserBashOptions, about: AboutSession, command: string, excluded: boolean): Effect.fn.Return<UserBash> {
  if (!hooks.subscribed("user_bash")) return { _tag: "Run" }
  const outcome = yield* hooks.run("user_bash", { ...about, command, exclude_from_context: excluded })
  if (outcome._tag === "Blocked") return { _tag: "Refused", reason: outcome.reason }
  const { operations, result } = outcome.payload
  if (operations !== undefined) {
    const { extension, handle } = operations
    return { _tag: "Elsewhere", run: (onOutput) => Effect.map(extensions.invoke(extension, handle, [], onOutput), codeOf) }
  }
  if (result === undefined) return { _tag: "Run" }
  const { exitCode, output } = result
  return { _tag: "Done", output: typeof output === "string" ? output : "", code: typeof exitCode === "number" ? exitCode : 0 }
})
