/** `/rewind`: back in the conversation and, where it is wished, in the files that calls have changed since; and forth again. */
import { Effect } from "effect"
import type { Snapshots } from "@nimlet/session"
import type { Files } from "@nimlet/tools"
import type { SwitchRefused } from "../AgentError.ts"
import { makeRewind, type RewindPlan } from "../Rewind.ts"
import type { Switching, Target } from "../Switching.ts"
import { entered, type SessionChange } from "./SessionChange.ts"
import type { Outcome, Voice } from "./Voice.ts"

const rewindUsage = "Usage: /rewind N [files [now]], or /rewind undo"

/** What a plan would do, a line a file. */
const planText = ({ moves, refusals }: RewindPlan): string =>
  [...moves.map(({ path, removes }) => `${path}: ${removes ? "would be taken away" : "would be as it was"}`), ...refusals.map(({ path, why }) => `${path}: ${why}`)].join("\n")

/** What it works with; without `files` it leads back in the conversation alone. */
export interface RewindCommandOptions {
  readonly files: Files | undefined
  readonly snapshots: Snapshots
  readonly switching: Switching
  readonly change: SessionChange
}

/** Runs it with what was typed behind it. */
export const makeRewindCommand = ({ change, files, snapshots, switching }: RewindCommandOptions): (args: string, voice: Voice) => Effect.Effect<Outcome> => {
  const { go, goAndSay } = change
  const rewind = files === undefined ? undefined : makeRewind(files, snapshots)

  /** Changes the session and, on the way, files. */
  const goWith = Effect.fnUntraced(function*(voice: Voice, target: Target, plan: RewindPlan, hint: string) {
    if (plan.refusals.length > 0) return yield* voice.fail(`Nothing was changed:\n${planText(plan)}`)
    let told = ""
    const { text } = yield* go(voice, target, Effect.fnUntraced(function*(there) {
      told = [entered(target.kind, there), ...(yield* plan.carryOut(there.session)), ...(hint === "" ? [] : [hint])].join("\n")
      yield* voice.tell(told)
    }))
    const done: Outcome = { success: true, text: told }
    return text === "" ? done : { ...done, editorText: text }
  }, (effect, voice) => Effect.catch(effect, (error: SwitchRefused) => voice.fail(error.message)))

  const rewindFiles = Effect.fnUntraced(function*(message: number, now: boolean, voice: Voice) {
    const plan = yield* rewind?.plan(switching.current().session, message) ?? Effect.undefined
    if (rewind === undefined) return yield* voice.fail("Files cannot be brought back here.")
    if (plan === undefined) return yield* voice.fail(`There is no message ${message} of yours in this session.`)
    if (now) return yield* goWith(voice, { kind: "fork", message }, plan, "/rewind undo takes all of it back.")
    if (plan.moves.length + plan.refusals.length === 0) return yield* voice.tell(`No file was changed by edit or write since. /rewind ${message} goes back.`)
    if (plan.refusals.length > 0) return yield* voice.tell(`${planText(plan)}\nSo no file would go back; /rewind ${message} goes back without them.`)
    const next = `/rewind ${message} files now`
    return { ...yield* voice.tell(`${planText(plan)}\n${next} does it.`), nextCommand: next }
  })

  const undoRewind = Effect.fnUntraced(function*(voice: Voice) {
    const undo = yield* rewind?.undo(switching.current().session) ?? Effect.undefined
    if (undo === undefined) return yield* voice.fail("This session was not entered by a rewind of files that can be taken back.")
    return yield* goWith(voice, { kind: "resume", id: undo.from }, undo.plan, "")
  })

  return (args, voice) => {
    const [what = "", which, now, ...more] = args.toLowerCase().split(/\s+/)
    if (what === "undo" && which === undefined) return undoRewind(voice)
    if (!/^\d+$/.test(what) || (which ?? "files") !== "files" || (now ?? "now") !== "now" || more.length > 0) return voice.fail(rewindUsage)
    return which === undefined ? goAndSay(voice, { kind: "fork", message: Number(what) }) : rewindFiles(Number(what), now !== undefined, voice)
  }
}
