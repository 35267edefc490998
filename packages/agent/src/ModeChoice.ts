/** Which way of working is chosen, and which one a run goes on in: a choice made during a run holds when it is over. */
import { Effect } from "effect"
import type { Extensions, Hooks } from "@nimlet/extension"
import { actMode, type Mode, modeNamed, ModeUnknown, modesWith } from "./Modes.ts"

/** The ways of working of an agent. */
export interface ModeChoice {
  /** The one in force now. */
  readonly active: () => Mode
  /** The one of the next run. */
  readonly chosen: () => Mode
  readonly all: Effect.Effect<ReadonlyArray<Mode>>
  /** Fails with `ModeUnknown`. */
  readonly choose: (id: string) => Effect.Effect<Mode, ModeUnknown>
  /** Runs something in the one in force, which stays until it is over. One whose extension has gone gives way to the first. */
  readonly during: <A, E, R>(run: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Begins with acting. Survives any change of session. */
export const makeModeChoice = (extensions: Extensions["Service"]): ModeChoice => {
  let active = actMode
  let chosen = actMode
  let running = 0
  const all = Effect.map(extensions.modes, modesWith)
  const settle = () => {
    if (running === 0) active = chosen
  }
  return {
    active: () => active,
    chosen: () => chosen,
    all,
    choose: Effect.fnUntraced(function*(id: string) {
      const modes = yield* all
      const mode = modeNamed(modes, id)
      if (mode === undefined) return yield* new ModeUnknown({ id, known: modes.map((one) => one.id) })
      chosen = mode
      settle()
      return mode
    }),
    during: (run) =>
      Effect.acquireUseRelease(
        Effect.map(all, (modes) => {
          chosen = modeNamed(modes, chosen.id) ?? actMode
          settle()
          running++
        }),
        () => run,
        () => Effect.sync(() => {
          running--
          settle()
        })
      )
  }
}

/** Hooks that say of each event whether the agent only plans. */
export const planningHooks = (hooks: Hooks["Service"], planning: () => boolean): Hooks["Service"] => ({
  run: (event, payload, options) => hooks.run(event, payload, planning() ? { ...options, planning: true } : options),
  subscribed: (event, options) => hooks.subscribed(event, planning() ? { ...options, planning: true } : options)
})
