/** What comes of an event: the state after it, and what is to be done. Pure. */
import type { Command } from "./Command.ts"
import type { State } from "./State.ts"

/** A state and what is to be done; `taken: false` leaves a key to the composer. */
export interface Step {
  readonly state: State
  readonly commands: ReadonlyArray<Command>
  readonly taken: boolean
}

/** On to a state, with something to be done. */
export const step = (state: State, ...commands: ReadonlyArray<Command>): Step => ({ state, commands, taken: true })

/** A key that is the composer's. */
export const left = (state: State): Step => ({ state, commands: [], taken: false })
