/** What a supervisor publishes: the one stream that screens, logs and tests read. */
import type { Cause, Exit } from "effect"

/** Fields of every event: the child's name and the time in milliseconds. */
interface Happened {
  readonly child: string
  readonly at: number
}

/** A life begins; `life` counts from 1. */
export interface Started extends Happened {
  readonly _tag: "Started"
  readonly life: number
}
/** The child can do its work, `tookMillis` after its start. */
export interface Ready extends Happened {
  readonly _tag: "Ready"
  readonly life: number
  readonly tookMillis: number
}
/** A life ended without being asked to. */
export interface Crashed extends Happened {
  readonly _tag: "Crashed"
  readonly life: number
  readonly cause: Cause.Cause<unknown>
}
/** The next life begins in `delayMillis`. */
export interface Restarting extends Happened {
  readonly _tag: "Restarting"
  readonly delayMillis: number
}
/** It crashed too often; only `restart` brings it back. */
export interface Quarantined extends Happened {
  readonly _tag: "Quarantined"
}
/** It ended for good: stopped, done, or failed for a final reason. */
export interface Stopped extends Happened {
  readonly _tag: "Stopped"
  readonly exit: Exit.Exit<void, unknown>
}

/** Anything that happens to a child. */
export type SupervisorEvent = Started | Ready | Crashed | Restarting | Quarantined | Stopped
