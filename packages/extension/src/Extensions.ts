/** The running extensions of a session: start, tools, commands, events, stop. */
import { Context, type Effect, type FileSystem, Layer, type Path } from "effect"
import type { HookName, JsonObject } from "@nimlet/protocol"
import type { CallFailed } from "./ExtensionError.ts"
import type { Launcher } from "./Launcher.ts"
import type { CommandReply, ExtensionCommand, ExtensionTool, ToolReply } from "./Offer.ts"
import { makeExtensions } from "./RunningExtensions.ts"
import type { StartOptions, StartReport } from "./Start.ts"
import type { Subscriber } from "./Subscriber.ts"
import { layerChildProcess } from "./Transport/ChildProcess.ts"

/**
 * The running extensions. References in force where `start` runs are kept for their life: `Frontend`, `Diagnostics`,
 * `EntrySink`, `FrameTap`. Closing the layer stops everything.
 */
export class Extensions extends Context.Service<Extensions, {
  /** Starts all in parallel and returns when each has registered, failed or passed its limit. Stops earlier ones first. */
  readonly start: (options: StartOptions) => Effect.Effect<StartReport>
  /** Stops all at once: `shutdown`, 2 s, SIGTERM, 0.5 s, SIGKILL. */
  readonly stop: Effect.Effect<void>
  /** Starts one afresh, out of quarantine too. False if no such extension is there, or it has ended for good. */
  readonly restart: (key: string) => Effect.Effect<boolean>
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
    FileSystem.FileSystem | Path.Path
  > = Extensions.layerNoDeps.pipe(Layer.provide(layerChildProcess))
}
