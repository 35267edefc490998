/** The running extensions of a session: start, tools, commands, events, stop. */
import { Context, type Effect, type FileSystem, Layer, type Path } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import type { Capability, HookName, JsonObject, ToolContent } from "@nimlet/protocol"
import type { CallFailed } from "./ExtensionError.ts"
import type { Root } from "./FamilyPolicy.ts"
import type { Launcher } from "./Launcher.ts"
import { makeExtensions } from "./RunningExtensions.ts"
import type { Subscriber } from "./Subscriber.ts"
import { layerChildProcess } from "./Transport/ChildProcess.ts"

/** What a start needs to know of the session. */
export interface StartOptions {
  /** Folders to search, in startup order; see `rootsOf`. */
  readonly roots: ReadonlyArray<Root>
  /** Single extension folders or manifest files (`-e`), started last. */
  readonly paths: ReadonlyArray<string>
  /** Absolute path; the working directory of every extension. */
  readonly workspace: string
  readonly sessionId: string
  readonly trusted: boolean
  /** How the host runs: `tui`, `text`, `print`, `json` or `rpc`. */
  readonly mode: string
  /** Where `NAME.log` files go. */
  readonly logs: string
  /** The environment extensions inherit. */
  readonly environment: Readonly<Record<string, string>>
  /** Names left out of it (provider keys) unless a manifest's `env` asks for them. */
  readonly withheld?: ReadonlyArray<string>
  /** More of the session for the `NIMLET_*` and `NIMINAL_*` variables. */
  readonly session?: {
    readonly file?: string
    readonly provider?: string
    readonly model?: string
    readonly reasoningLevel?: string
    /** Our own binary, for extensions that start us. */
    readonly bin?: string
  }
  /** Names no extension may register as a tool, compared without regard to case. */
  readonly reservedTools: ReadonlyArray<string>
  /** The stored data of one extension, oldest first, for its `initialize`. Default: none. */
  readonly entries?: (extension: string) => ReadonlyArray<unknown>
}

/** What came of a start. `warnings` are whole sentences for people. */
export interface StartReport {
  /** Keys of what runs, in startup order. */
  readonly started: ReadonlyArray<string>
  readonly warnings: ReadonlyArray<string>
}

/** A tool an extension offers the model. */
export interface ExtensionTool {
  readonly name: string
  readonly description: string
  /** JSON Schema, as registered. */
  readonly inputSchema: JsonObject
  readonly capabilities: ReadonlyArray<Capability>
  /** Only reads, and its family lets such tools run without asking. */
  readonly unasked: boolean
  /** Key of the extension. */
  readonly extension: string
}

/** A slash command an extension offers. */
export interface ExtensionCommand {
  readonly name: string
  readonly description: string
  /** Key of the extension. */
  readonly extension: string
}

/** What a tool of an extension gave back. */
export interface ToolReply {
  readonly content: ReadonlyArray<ToolContent>
  readonly isError: boolean
}

/** What a command gave back: `message` is printed first, then `prompt` starts a turn. */
export interface CommandReply {
  readonly message?: string
  readonly prompt?: string
}

/**
 * The running extensions. References in force where `start` runs are kept for their life: `Frontend`, `Diagnostics`,
 * `EntrySink`, `FrameTap`. Closing the layer stops everything.
 */
export class Extensions extends Context.Service<Extensions, {
  /** Starts all in parallel and returns when each has registered, failed or passed its limit. Stops earlier ones first. */
  readonly start: (options: StartOptions) => Effect.Effect<StartReport>
  /** Stops all at once: `shutdown`, 2 s, SIGTERM, 0.5 s, SIGKILL. */
  readonly stop: Effect.Effect<void>
  /** What the model may call now; of two with one name the later in startup order. */
  readonly tools: Effect.Effect<ReadonlyArray<ExtensionTool>>
  /** What a user may type now; of two with one name the earlier. */
  readonly commands: Effect.Effect<ReadonlyArray<ExtensionCommand>>
  /** Calls a tool; `onUpdate` receives progress text. Interrupting it sends `cancel`. */
  readonly callTool: (
    name: string,
    args: JsonObject,
    onUpdate?: (text: string) => Effect.Effect<void>
  ) => Effect.Effect<ToolReply, CallFailed>
  /** Runs a command by name, in any case; `args` is the text after it. Interrupting it sends `cancel`. */
  readonly runCommand: (name: string, args: string) => Effect.Effect<CommandReply, CallFailed>
  /** Who is asked about an event, in startup order. A plain look-up: no effect, no allocation when nobody is. */
  readonly subscribers: (event: HookName) => ReadonlyArray<Subscriber>
}>()("@nimlet/extension/Extensions") {
  /** Over any launcher. */
  static readonly layerNoDeps: Layer.Layer<Extensions, never, Launcher | FileSystem.FileSystem | Path.Path> = Layer
    .effect(Extensions, makeExtensions)

  /** Extensions as child processes. */
  static readonly layer: Layer.Layer<
    Extensions,
    never,
    ChildProcessSpawner.ChildProcessSpawner | FileSystem.FileSystem | Path.Path
  > = Extensions.layerNoDeps.pipe(Layer.provide(layerChildProcess))
}
