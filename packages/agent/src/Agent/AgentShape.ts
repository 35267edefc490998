/** What an agent can be asked to do. */
import type { Effect, Stream } from "effect"
import type { AgentEvent } from "@nimlet/protocol"
import type { ThinkingLevel } from "@nimlet/provider"
import type { Session } from "@nimlet/session"
import type { RequiredExtensionMissing, SwitchRefused } from "../AgentError.ts"
import type { AsideFailed } from "../Aside.ts"
import type { Compacted } from "../Compaction.ts"
import type { RunResult } from "../Loop.ts"
import type { Mode, ModeUnknown } from "../Modes.ts"
import type { Offer, QueueChange, Queued, QueuedText } from "../Queues.ts"
import type { ModelChoice, Selection, ThinkingState } from "../Selection.ts"
import type { Destination } from "../Switching.ts"
import type { SessionTotals } from "../Totals.ts"
import type { UserBash } from "../UserBash.ts"
import type { UserInput } from "../Wording.ts"

/** An agent and the session it has open. What changes the session or asks the model runs one after another. */
export interface AgentShape {
  /** Runs one input to its end. Interrupting it is the user's interrupt: calls are cancelled, the session stays whole. */
  readonly prompt: (input: UserInput) => Effect.Effect<RunResult>
  /** Runs words to their end: `prompt` for a program that has no more to say of them. */
  readonly send: (text: string) => Effect.Effect<RunResult>
  /**
   * The command in what was typed, if it is one of an extension that may run beside a turn: running it gives its message.
   * What it wants said waits in the queue. Undefined for all else, which `prompt` runs when its turn comes.
   */
  readonly aside: (typed: string) => Effect.Effect<Effect.Effect<string, AsideFailed> | undefined>
  /** Stops what runs, all that waits behind it and goes on beside it, as interrupting their fibers does, and returns when it is over. */
  readonly interrupt: Effect.Effect<void>
  /** What extensions want done with a shell command that the user typed for themselves; `excluded`: the model is not to see it. */
  readonly userBash: (command: string, excluded: boolean) => Effect.Effect<UserBash>
  /** What happens from now on. A slow taker slows the run, and nothing is lost. */
  readonly events: Stream.Stream<AgentEvent>
  /** Says something before the next model step of the run under way; `requestId` is told when it is queued and delivered. */
  readonly steer: (text: string, requestId?: string) => Effect.Effect<Offer>
  /** Says something when the run under way would end. */
  readonly followUp: (text: string, requestId?: string) => Effect.Effect<Offer>
  /** What was said so and waits. After a run that failed or was interrupted, some may be left. */
  readonly queued: Effect.Effect<Queued>
  /** Takes the oldest of what was left, steering first, for a run of its own. */
  readonly takeLeft: Effect.Effect<QueuedText | undefined>
  /** Takes all of it back. */
  readonly clearQueued: Effect.Effect<Queued>
  /** What happens to it in the session that is open now. */
  readonly queueChanges: Effect.Effect<Stream.Stream<QueueChange>>
  /** Compacts the conversation, `instruction` telling what its summary should heed, and says what came of it. Interrupting it changes nothing. */
  readonly compact: (instruction: string) => Effect.Effect<Compacted>
  /** The session that is open. */
  readonly session: Effect.Effect<Session>
  /** Leaves the session for a new one, for one by its id (without: the latest other one), for one forked before a message. */
  readonly newSession: Effect.Effect<Destination, SwitchRefused>
  readonly resume: (id?: string) => Effect.Effect<Destination, SwitchRefused>
  readonly fork: (message: number) => Effect.Effect<Destination, SwitchRefused>
  /** Starts the extensions anew. Fails when one that is required does not run then; nothing else runs either until it does. */
  readonly reload: Effect.Effect<void, RequiredExtensionMissing>
  /** Who answers. */
  readonly selection: Effect.Effect<Selection>
  /** Has another model answer from the next run on. A session that cannot be written keeps the choice, which is told. */
  readonly select: (choice: ModelChoice) => Effect.Effect<void>
  /** How much it thinks, and what levels there are. */
  readonly thinking: Effect.Effect<ThinkingState>
  /**
   * Has it, and whoever answers after it, think so much from the next request on; a model without that level thinks as
   * `ThinkingState.level` says. A session that cannot be written keeps the choice, which is told.
   */
  readonly setThinking: (level: ThinkingLevel) => Effect.Effect<ThinkingState>
  /** What the session has used so far. */
  readonly totals: Effect.Effect<SessionTotals>
  /** The way of working, and all there are. */
  readonly mode: Effect.Effect<Mode>
  readonly modes: Effect.Effect<ReadonlyArray<Mode>>
  /** Works another way from the next run on. */
  readonly setMode: (id: string) => Effect.Effect<Mode, ModeUnknown>
  /** Whether every call runs without a question. */
  readonly yolo: Effect.Effect<boolean>
  /** Commands that are files: templates by their name, skills as `skill:NAME`. */
  readonly fileCommands: Effect.Effect<ReadonlyArray<{ readonly name: string; readonly description: string }>>
  /** Names of the tools the model is offered now. */
  readonly toolNames: Effect.Effect<ReadonlyArray<string>>
}
