/** The running extensions of a session: start, tools, commands, events, stop. */
import { Context, Effect, type FileSystem, Layer, type Path, Stream } from "effect"
import type { CommandContext, HookName, JsonObject } from "@nimlet/protocol"
import { CallFailed } from "./ExtensionError.ts"
import type { Launcher } from "./Launcher.ts"
import type { ExtensionFigures } from "./Figures.ts"
import type { CommandReply, ExtensionCommand, ExtensionMode, ExtensionProvider, ExtensionTool, ToolReply } from "./Offer.ts"
import { makeExtensions } from "./RunningExtensions.ts"
import type { StartOptions, StartReport } from "./Start.ts"
import type { Subscriber } from "./Subscriber.ts"
import { layerChildProcess } from "./Transport/ChildProcess.ts"

/**
 * The running extensions. References in force where `start` runs are kept for their life: `Frontend`, `Diagnostics`,
 * `EntrySink`, `FrameTap`, `SessionAccess`. Closing the layer stops everything.
 */
export class Extensions extends Context.Service<Extensions, {
  /**
   * Stops earlier ones, starts all in parallel, and returns when each has registered, failed or passed its limit, or
   * `proceed` says to go on. Those that work in the background are not waited for, unless they are required or a closed
   * guard. Interrupting it gives the wait up and ends none.
   */
  readonly start: (options: StartOptions) => Effect.Effect<StartReport>
  /** Stops all at once: open questions are withdrawn, then `shutdown`, 2 s, SIGTERM, 0.5 s, SIGKILL. */
  readonly stop: Effect.Effect<void>
  /** Starts one afresh, out of quarantine and after a failed start too. False if no such extension is there. */
  readonly restart: (key: string) => Effect.Effect<boolean>
  /**
   * Stops one for as long as the session goes on, or until it is restarted. What it offered is gone, and a guard that is
   * closed blocks no more. False if no such extension is there.
   */
  readonly disable: (key: string) => Effect.Effect<boolean>
  /** What the model may call now; of two with one name the later in startup order. */
  readonly tools: Effect.Effect<ReadonlyArray<ExtensionTool>>
  /** What a user may type now; of two with one name the earlier. */
  readonly commands: Effect.Effect<ReadonlyArray<ExtensionCommand>>
  /** Calls a tool; `onUpdate` receives progress text and details, `callId` is the model's. Interrupting it sends `cancel`. */
  readonly callTool: (
    name: string,
    args: JsonObject,
    onUpdate?: (text: string, details?: JsonObject) => Effect.Effect<void>,
    callId?: string
  ) => Effect.Effect<ToolReply, CallFailed>
  /** What is to be validated in place of the model's arguments: what the tool makes of them, if it wants to (seed 004). */
  readonly prepare: (name: string, args: unknown) => Effect.Effect<unknown, CallFailed>
  /**
   * Calls a function an extension registered by number (a shortcut's, a completion's; see `RegistrationExtras`) or gave in a reply;
   * `onUpdate` receives what it says meanwhile. Interrupting it sends `cancel`.
   */
  readonly invoke: (
    extension: string,
    handle: number,
    args: ReadonlyArray<unknown>,
    onUpdate?: (text: string) => Effect.Effect<void>
  ) => Effect.Effect<unknown, CallFailed>
  /** What a user may switch to. */
  readonly modes: Effect.Effect<ReadonlyArray<ExtensionMode>>
  /** Where more models may be asked. */
  readonly providers: Effect.Effect<ReadonlyArray<ExtensionProvider>>
  /**
   * Runs a command by name, in any case; `args` is the text after it, `context` what it may want to know of the
   * session. Interrupting it sends `cancel`.
   */
  readonly runCommand: (name: string, args: string, context?: CommandContext) => Effect.Effect<CommandReply, CallFailed>
  /**
   * Tells an extension that the user pressed `action` of the widget `key` (`<extension>:<key>`); `text` is what a modal's
   * composer held. False, and nothing sent, when that widget does not offer that action now.
   */
  readonly act: (key: string, action: string, text?: string) => Effect.Effect<boolean>
  /** How each extension stands now, in startup order. */
  readonly figures: Effect.Effect<ReadonlyArray<ExtensionFigures>>
  /** The same now, and again whenever something of it has changed, at most four times a second. */
  readonly changes: Stream.Stream<ReadonlyArray<ExtensionFigures>>
  /** Who is asked about an event, in startup order. A plain look-up: no effect, no allocation when nobody is. */
  readonly subscribers: (event: HookName) => ReadonlyArray<Subscriber>
}>()("@nimlet/extension/Extensions") {
  /** Over any launcher. */
  static readonly layerNoDeps: Layer.Layer<Extensions, never, Launcher | FileSystem.FileSystem | Path.Path> = Layer
    .effect(Extensions, makeExtensions)

  /** No extensions at all: for programs that want none. */
  static readonly layerNone: Layer.Layer<Extensions> = Layer.succeed(Extensions, {
    start: () => Effect.succeed({ started: [], warnings: [], missing: [] }),
    stop: Effect.void,
    restart: () => Effect.succeed(false),
    disable: () => Effect.succeed(false),
    tools: Effect.succeed([]),
    commands: Effect.succeed([]),
    callTool: (name) => Effect.fail(new CallFailed({ extension: name, reason: "unknown" })),
    prepare: (_, args) => Effect.succeed(args),
    invoke: (extension) => Effect.fail(new CallFailed({ extension, reason: "unknown" })),
    modes: Effect.succeed([]),
    providers: Effect.succeed([]),
    runCommand: (name) => Effect.fail(new CallFailed({ extension: name, reason: "unknown" })),
    act: () => Effect.succeed(false),
    figures: Effect.succeed([]),
    changes: Stream.empty,
    subscribers: () => []
  })

  /** Extensions as child processes. */
  static readonly layer: Layer.Layer<
    Extensions,
    never,
    FileSystem.FileSystem | Path.Path
  > = Extensions.layerNoDeps.pipe(Layer.provide(layerChildProcess))
}
