/** A shell command that the user typed for themselves, as extensions of seed 004 see it (`user_bash`): they may refuse it, or have run it. */
import { Effect } from "effect"
import type { Hooks } from "@nimlet/extension"
import type { AboutSession } from "./Selection.ts"

/** What is to be done with it: run it, say why not, or show what an extension made of it. */
export type UserBash =
  | { readonly _tag: "Run" }
  | { readonly _tag: "Refused"; readonly reason: string }
  | { readonly _tag: "Done"; readonly output: string; readonly code: number }

/** Asks; `excluded` says that the model is not to see it. */
export const askUserBash = Effect.fnUntraced(function*(hooks: Hooks["Service"], about: AboutSession, command: string, excluded: boolean): Effect.fn.Return<UserBash> {
  if (!hooks.subscribed("user_bash")) return { _tag: "Run" }
  const outcome = yield* hooks.run("user_bash", { ...about, command, exclude_from_context: excluded })
  if (outcome._tag === "Blocked") return { _tag: "Refused", reason: outcome.reason }
  const { result } = outcome.payload
  if (result === undefined) return { _tag: "Run" }
  const { exitCode, output } = result
  return { _tag: "Done", output: typeof output === "string" ? output : "", code: typeof exitCode === "number" ? exitCode : 0 }
})
