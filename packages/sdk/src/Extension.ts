/**
 * Extensions of nimlet, written with types: tools whose input is a Schema, commands and answers to events, in promises or
 * effects. The same value runs on a worker thread of nimlet, as a program over standard input and output, and in tests.
 */
import { Effect, type Scope } from "effect"
import type { RegisteredMode, RegisteredProvider } from "@nimlet/protocol"
import { serveTool, type ToolDefinition, type ToolInput } from "./extension/ExtensionTool.ts"
import { type CommandDefinition, type HookDefinitions, type ServedExtension, serveExtension } from "./extension/Serve.ts"
import { standardLines } from "./extension/StandardLines.ts"
import { makeTestHost, type TestHost, type TestHostOptions } from "./extension/TestHost.ts"
import { type WorkerFace, workerFace, workerMark } from "./extension/WorkerLink.ts"

export type { Completion, ExtensionContext, ToolContext } from "./extension/ExtensionContext.ts"
export type { ConstrainedSampling, InputOf, ToolDefinition, ToolInput, ToolOutput } from "./extension/ExtensionTool.ts"
export type { Outcome } from "./extension/Handler.ts"
export { HostRefused } from "./extension/HostLink.ts"
export type { CommandDefinition, CommandOutput, HookDefinitions, PressedAction } from "./extension/Serve.ts"
export type { TestHost, TestHostOptions, TestReply } from "./extension/TestHost.ts"

/** What an extension is made of; `tools` and `commands` by name, `hooks` by event. */
export interface ExtensionDefinition<T extends Readonly<Record<string, ToolInput>>> {
  /** For people; nimlet itself knows it by its file or manifest. */
  readonly name: string
  readonly tools?: { readonly [K in keyof T]: ToolDefinition<T[K]> }
  readonly commands?: Readonly<Record<string, CommandDefinition>>
  readonly hooks?: HookDefinitions
  readonly modes?: ReadonlyArray<RegisteredMode>
  readonly providers?: ReadonlyArray<RegisteredProvider>
  /** Called when a person presses an action of a widget. */
  readonly onAction?: ServedExtension["onAction"]
}

/** An extension: the default export of a module that nimlet loads. */
export interface Extension extends ServedExtension {
  readonly [workerMark]: WorkerFace
}

/** Defines an extension. */
export const define = <const T extends Readonly<Record<string, ToolInput>>>(definition: ExtensionDefinition<T>): Extension => {
  const { commands = {}, hooks = {}, modes = [], name, onAction, providers = [], tools } = definition
  const served: ServedExtension = {
    name,
    commands,
    hooks,
    modes,
    providers,
    onAction,
    tools: tools === undefined ? [] : Object.entries(tools).map(([tool, each]) => serveTool(tool, each))
  }
  return { ...served, [workerMark]: workerFace(served) }
}

/** Serves an extension over standard input and output, until the host ends: the whole of a program. */
export const serve = (extension: Extension): Promise<void> =>
  Effect.runPromise(Effect.flatMap(standardLines, (lines) => serveExtension(extension, lines)))

/** Runs an extension in memory for a test, under the clock of the test; it is stopped when the scope closes. */
export const test = (extension: Extension, options?: TestHostOptions): Effect.Effect<TestHost, never, Scope.Scope> => makeTestHost(extension, options)
