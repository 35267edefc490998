/** What every errand works with. */
import { Effect, FileSystem, Path } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import type { FrontendShape } from "@nimlet/extension"
import type { Conversing } from "../../modes/Mode.ts"
import type { Event } from "../Event.ts"
import type { State } from "../State.ts"

/** Whom there is to do it with. */
export interface Company extends Conversing {
  /** Runs something where the agent lives: its events and questions come to the screen. */
  readonly within: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** What an errand needs of this machine. */
export type ErrandNeeds = ChildProcessSpawner.ChildProcessSpawner | FileSystem.FileSystem | Path.Path

/** An errand: what comes of it has been shown when it is done. */
export type Errand = Effect.Effect<unknown, never, ErrandNeeds>

/** What errands are made with. */
export interface ErrandsOptions {
  readonly dispatch: (event: Event) => void
  readonly state: () => State
  /** There once the extensions have started. */
  readonly company: Effect.Effect<Company>
  /** The same where it is there already. */
  readonly present: () => Company | undefined
  /** Takes up earlier prompts. */
  readonly remember: (text: string) => void
  readonly ids: () => number
  /** Asks the person. */
  readonly frontend: FrontendShape
  readonly home: string
  /** The person's own settings file. */
  readonly settingsFile: string
  /** How nimlet is set up, as text. */
  readonly diagnosis: Effect.Effect<string, never, ErrandNeeds>
  readonly environment: Readonly<Record<string, string>>
  readonly platform: string
}

/** The options, and how something is shown. */
export interface ErrandRoom extends ErrandsOptions {
  readonly show: (event: Event) => Effect.Effect<void>
  readonly tell: (text: string, level?: "info" | "warning" | "error") => Effect.Effect<void>
}

/** The room that errands start from. */
export const makeErrandRoom = (options: ErrandsOptions): ErrandRoom => {
  const show = (event: Event): Effect.Effect<void> => Effect.sync(() => options.dispatch(event))
  return { ...options, show, tell: (text, level = "info") => show({ type: "notice", level, text }) }
}
