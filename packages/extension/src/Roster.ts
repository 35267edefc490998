/** What the running extensions offer together, and who wins where two offer the same (seed 000). Pure. */
import type { Capability, Registration } from "@nimlet/protocol"
import type { FamilyPolicy } from "./FamilyPolicy.ts"
import type { ExtensionCommand, ExtensionMode, ExtensionProvider, ExtensionTool } from "./Offer.ts"

/** One extension's offer. */
export interface Offering {
  readonly key: string
  readonly family: FamilyPolicy
  readonly registration: Registration
}

const onlyReads = (capabilities: ReadonlyArray<Capability>) =>
  capabilities.length > 0 && capabilities.every((each) => each === "read" || each === "user")

/** Names that every provider takes. A request with another one is refused as a whole, so one tool would end every turn. */
const callable = /^[A-Za-z0-9_-]{1,64}$/

/** Why a registered tool cannot be offered, as a sentence; undefined when it can. */
const faultOf = (
  { input_schema, name }: Registration["tools"][number],
  reserved: ReadonlySet<string>,
  family: FamilyPolicy
): string | undefined => {
  if (!family.mayReplaceBuiltins && reserved.has(name.toLowerCase())) return `extension tool '${name}' collides with a built-in tool`
  if (!callable.test(name)) return `extension tool '${name}' is left out: a name has 1 to 64 letters, digits, _ and -`
  if (input_schema["type"] !== undefined && input_schema["type"] !== "object") {
    return `extension tool '${name}' is left out: its input_schema must be of type object`
  }
  return undefined
}

/** The tools, of two with one name the later; those with a reserved name (any case), or that no provider takes, are left out. */
export const toolsOf = (
  offerings: ReadonlyArray<Offering>,
  reserved: ReadonlySet<string>
): ReadonlyArray<ExtensionTool> => {
  const tools = new Map<string, ExtensionTool>()
  for (const { family, key, registration } of offerings) {
    for (const tool of registration.tools) {
      if (faultOf(tool, reserved, family) !== undefined) continue
      const { capabilities, description, extras, input_schema, name } = tool
      const unasked = family.readOnlyToolsUnasked && onlyReads(capabilities)
      const parallel = family.toolsRunTogether ? { parallel: extras?.sequential !== true } : {}
      tools.set(name, { name, description, inputSchema: input_schema, capabilities, unasked, ...parallel, extension: key, ...(extras === undefined ? {} : { extras }) })
    }
  }
  return [...tools.values()]
}

/** A sentence for each tool that `toolsOf` leaves out. */
export const faultsOf = (
  registration: Registration,
  reserved: ReadonlySet<string>,
  family: FamilyPolicy
): ReadonlyArray<string> =>
  registration.tools.flatMap((tool) => faultOf(tool, reserved, family) ?? [])

/** A sentence for each command that is never run, since one of nimlet's own has its name. */
export const unreachableOf = ({ commands }: Registration, reserved: ReadonlySet<string>): ReadonlyArray<string> =>
  commands.filter(({ name }) => reserved.has(name.toLowerCase()))
    .map(({ name }) => `extension command '/${name}' is never run: '/${name.toLowerCase()}' is a built-in command; give it another name`)

/** A sentence for each tool that takes the place of a built-in one. */
export const replacementsOf = (
  registration: Registration,
  reserved: ReadonlySet<string>,
  family: FamilyPolicy
): ReadonlyArray<string> =>
  registration.tools.filter((tool) => reserved.has(tool.name.toLowerCase()) && faultOf(tool, reserved, family) === undefined)
    .map(({ name }) => `extension tool '${name}' replaces the built-in tool of that name`)

/**
 * The commands. Of two with one name (any case) the earlier counts, but those of a family that numbers them are all there: as
 * `name:1`, `name:2` in startup order, with the next number that nobody has.
 */
export const commandsOf = (offerings: ReadonlyArray<Offering>): ReadonlyArray<ExtensionCommand> => {
  const offers = offerings.flatMap(({ family, key, registration }) => registration.commands.map((command) => ({ ...command, key, id: command.name.toLowerCase(), family })))
  const numbered = offers.filter(({ family }) => family.numbersCommands)
  const isShared = (id: string) => numbered.filter((other) => other.id === id).length > 1
  const commands = new Map<string, ExtensionCommand>()
  const taken = new Set(offers.filter(({ family, id }) => !family.numbersCommands || !isShared(id)).map(({ id }) => id))
  for (const { description = "", family, id, key, name, while_busy = false } of offers) {
    const command = { description, whileBusy: while_busy, extension: key }
    if (!family.numbersCommands || !isShared(id)) {
      if (!commands.has(id)) commands.set(id, { name, ...command })
      continue
    }
    let number = 1
    while (taken.has(`${id}:${number}`)) number++
    taken.add(`${id}:${number}`)
    commands.set(`${id}:${number}`, { name: `${name}:${number}`, registered: name, ...command })
  }
  return [...commands.values()]
}

/** The modes, of two with one id the earlier. */
export const modesOf = (offerings: ReadonlyArray<Offering>): ReadonlyArray<ExtensionMode> => {
  const modes = new Map<string, ExtensionMode>()
  for (const { key, registration } of offerings) {
    for (const mode of registration.modes) {
      if (!modes.has(mode.id)) modes.set(mode.id, { ...mode, extension: key })
    }
  }
  return [...modes.values()]
}

/**
 * The providers, of two with one name (any case) the earlier, and a sentence for each that is left out for the sake of
 * an earlier or a reserved one.
 */
export const providersOf = (
  offerings: ReadonlyArray<Offering>,
  reserved: ReadonlySet<string>
): { readonly providers: ReadonlyArray<ExtensionProvider>; readonly clashes: ReadonlyArray<{ readonly extension: string; readonly message: string }> } => {
  const taken = new Set(reserved)
  const providers: Array<ExtensionProvider> = []
  const clashes: Array<{ readonly extension: string; readonly message: string }> = []
  for (const { key: extension, registration } of offerings) {
    for (const provider of registration.providers) {
      const id = provider.name.toLowerCase()
      if (taken.has(id)) {
        clashes.push({ extension, message: `extension '${extension}' could not register provider '${provider.name}'` })
        continue
      }
      taken.add(id)
      providers.push({ ...provider, extension })
    }
  }
  return { providers, clashes }
}
