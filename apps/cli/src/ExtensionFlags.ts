/** Flags of extensions on the command line: they are known when those have registered them (seed 004, `pi.registerFlag`). */
import { Effect } from "effect"
import { Extensions } from "@nimlet/extension"
import { parseArgv, type Registered, UsageError } from "./Argv.ts"
import type { Invocation } from "./Flags.ts"

/** Why a command line is wrong that has a prompt for RPC mode. */
export const noPromptInRpc = "--mode rpc takes prompts as commands on standard input, none on the command line."

/** The first to register a name says what it takes. */
const registeredFlags = Effect.map(Effect.flatMap(Extensions, ({ figures }) => figures), (figures): Registered => {
  const types = new Map<string, "boolean" | "string">()
  for (const { name, type } of figures.flatMap(({ registration }) => registration?.extras?.flags ?? [])) {
    if (!types.has(name)) types.set(name, type)
  }
  return types
})

/**
 * The prompt of a command line, once it is known which flags there are. Fails with `UsageError` for a flag that nobody has, and for
 * one without the value that it takes.
 */
export const settledPrompt = Effect.fnUntraced(function*(argv: ReadonlyArray<string>, { foreign, prompt }: Invocation) {
  if (foreign.length === 0) return prompt
  const types = yield* registeredFlags
  for (const { name, value } of foreign) {
    const type = types.get(name)
    if (type === undefined) return yield* new UsageError({ problem: `Unknown option: --${name}` })
    if (type === "string" && value === undefined) return yield* new UsageError({ problem: `--${name} needs a value: --${name} VALUE` })
  }
  const command = yield* Effect.fromResult(parseArgv(argv, types))
  return command.kind === "run" ? command.invocation.prompt : prompt
})
