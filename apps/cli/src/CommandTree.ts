/** Our command line as `effect/cli` knows one: it writes the help of subcommands and the completions of shells. */
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import { Effect } from "effect"
import * as CliArgument from "effect/cli/Argument"
import * as CliConfig from "effect/cli/CliConfig"
import * as CliCommand from "effect/cli/Command"
import * as CliFlag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import manifest from "../package.json" with { type: "json" }
import type { Command, shells } from "./Argv.ts"
import { type Flag, type Operand, runFlags, subcommands } from "./Flags.ts"

const flagOf = ({ about, names, value }: Flag): readonly [string, CliFlag.Flag<unknown>] => {
  const long = names.find((name) => name.startsWith("--")) ?? names[0]
  const name = long.replace(/^-+/, "")
  const aliases = names.filter((other) => other !== long).map((other) => other.replace(/^-+/, ""))
  const bare = value === undefined
    ? CliFlag.withoutNegation(CliFlag.Boolean(name))
    : CliFlag.withMetavar(CliFlag.String(name), value)
  const described = CliFlag.withDescription(bare as CliFlag.Flag<unknown>, about)
  return [name, CliFlag.optional(aliases.reduce((flag, alias) => CliFlag.withAlias(flag, alias), described))]
}

const argumentOf = ({ about, name, optional, rest }: Operand): readonly [string, CliArgument.Argument<unknown>] => {
  const one = CliArgument.withDescription(CliArgument.String(name), about)
  return [name, rest === true ? CliArgument.variadic(one, { min: optional === true ? 0 : 1 }) : optional === true ? CliArgument.optional(one) : one]
}

const commandOf = (name: string, about: string, flags: ReadonlyArray<Flag>, operands: ReadonlyArray<Operand> = []) =>
  CliCommand.make(name, Object.fromEntries<CliFlag.Flag<unknown> | CliArgument.Argument<unknown>>([...flags.map(flagOf), ...operands.map(argumentOf)])).pipe(CliCommand.withDescription(about))

type Group = { readonly word: string; readonly rest: string; readonly about: string; readonly flags: ReadonlyArray<Flag>; readonly operands?: ReadonlyArray<Operand> }

/** Subcommands of one word, and those of two under a command of the first word. */
const children = Object.entries(Object.groupBy(
  subcommands.map(({ name, ...takes }): Group => {
    const [word = "", ...rest] = name.split(" ")
    return { word, rest: rest.join(" "), ...takes }
  }),
  ({ word }) => word
)).flatMap(([word, group = []]) => {
  const alone = group.find(({ rest }) => rest === "")
  if (alone !== undefined) return [commandOf(word, alone.about, alone.flags, alone.operands)]
  const below = group.map(({ about, flags, operands, rest }) => commandOf(rest, about, flags, operands))
  return [commandOf(word, `subcommands of ${word}`, []).pipe(CliCommand.withSubcommands(below))]
})

const tree = commandOf("nimlet", "a terminal coding agent", runFlags).pipe(CliCommand.withSubcommands(children))

const tell = (...words: ReadonlyArray<string>) =>
  CliCommand.runWith(tree, { version: manifest.version })(words).pipe(
    Effect.provideService(CliConfig.CliConfig, CliConfig.make({ builtIns: [GlobalFlag.Help, GlobalFlag.Completions] })),
    Effect.provide(NodeTerminal.layer),
    Effect.as(0)
  )

/** Writes the help of a subcommand. Gives the exit code. */
export const tellHelp = (subcommand: NonNullable<Extract<Command, { readonly kind: "help" }>["subcommand"]>) => tell(...subcommand.split(" "), "--help")

/** Writes a script that teaches a shell our words. Gives the exit code. */
export const tellCompletions = (shell: (typeof shells)[number]) => tell("--completions", shell)
