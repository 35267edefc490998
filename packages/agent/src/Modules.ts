/** An agent as extensions of seed 004 see and use it, whichever session is open. */
import { Effect, type Scope } from "effect"
import type { AtomicSessionShape } from "@nimlet/extension"
import type { JsonObject } from "@nimlet/protocol"
import { type ThinkingLevel, thinkingLevelOf } from "@nimlet/provider"
import type { CommandUnderWay } from "./CommandRunner/ExtensionCommands.ts"
import type { Conversation } from "./Conversation.ts"
import { makeModuleCalls } from "./ModuleCalls.ts"
import { type KnownModel, makeModuleState, type ModuleStateOptions, type Offered } from "./ModuleState.ts"
import type { ModelChoice } from "./Selection.ts"
import type { Switching } from "./Switching.ts"
import type { UserInput } from "./Wording.ts"

/** What leaves a session. */
export interface Leaving {
  readonly commands: CommandUnderWay
  readonly switching: Switching
}

/** What whoever makes an agent gives for them. */
export interface ModuleWishes {
  /** Models that extensions may read of and choose (seed 004). Looked at where there are such extensions. */
  readonly models?: Effect.Effect<ReadonlyArray<KnownModel>>
  /** The model of that name, for an extension that chooses it; undefined when it cannot be had. */
  readonly modelNamed?: (name: { readonly provider: string; readonly model: string }) => Effect.Effect<ModelChoice | undefined>
  /** Flags that extensions registered and the command line has. The same object as before stands for the same flags. */
  readonly flags?: () => JsonObject
  /** Ends the program, for an extension that wants it ended; nothing happens where it is absent. */
  readonly onShutdown?: Effect.Effect<void>
}

/** What of the agent they need. */
export interface ModulesOptions extends Pick<ModuleStateOptions, "resources" | "selection"> {
  readonly current: () => Conversation
  /** What screen and host do without an agent. */
  readonly outer: AtomicSessionShape
  readonly options: ModuleWishes & { readonly onIdleInput?: (input: UserInput, extension: string) => Effect.Effect<void> }
  readonly offered: () => Offered
  readonly select: (choice: ModelChoice) => Effect.Effect<void>
  readonly setThinking: (level: ThinkingLevel) => Effect.Effect<void>
  /** Offers of the tools there are only these from now on. */
  readonly activate: (names: ReadonlyArray<string>) => Effect.Effect<void>
  /** Complete when the agent is made; until then `present` gives nothing. */
  readonly whole: Effect.Effect<Leaving>
  readonly present: () => Leaving | undefined
  readonly inTurn: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
  readonly scope: Scope.Scope
  readonly interrupt: Effect.Effect<void>
  readonly joined: () => void
}

const noFlags: JsonObject = {}

/** The session that they are given. */
export const makeModules = ({ activate, current, inTurn, interrupt, joined, offered, options, outer, present, resources, scope, select, selection, setThinking, whole }: ModulesOptions): AtomicSessionShape => {
  const { onIdleInput } = options
  const state = makeModuleState({
    conversation: current,
    selection,
    resources,
    offered,
    flags: options.flags ?? (() => noFlags)
  })
  return {
    joined: (extension) => {
      joined()
      outer.joined?.(extension)
    },
    show: outer.show,
    read: (key, extension) => state(key) ?? outer.read(key, extension),
    call: makeModuleCalls({
      conversation: current,
      outer,
      whole,
      follow: (words, attached) => present()?.commands.follow(words, attached) === true,
      inTurn,
      scope,
      ...(onIdleInput === undefined ? {} : { onIdleInput }),
      interrupt,
      // A command that waits for it has the turn.
      compact: (instruction) => {
        const compacting = Effect.suspend(() => current().compact(instruction))
        return present()?.commands.isUnderWay() === true ? compacting : inTurn(compacting)
      },
      offerOnly: activate,
      setModel: Effect.fnUntraced(function*(provider, model) {
        const choice = yield* options.modelNamed?.({ provider, model }) ?? Effect.undefined
        if (choice !== undefined) yield* select(choice)
        return choice !== undefined
      }),
      setThinking: (name) => {
        const level = thinkingLevelOf(name)
        return level === undefined ? Effect.void : setThinking(level)
      },
      shutdown: options.onShutdown ?? Effect.void
    })
  }
}
