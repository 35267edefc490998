/** What the running extensions offer together, and who wins where two offer the same (seed 000). Pure. */
import type { Capability, Registration } from "@nimlet/protocol"
import type { FamilyPolicy } from "./FamilyPolicy.ts"
import type { ExtensionCommand, ExtensionTool } from "./Offer.ts"

/** One extension's offer. */
export interface Offering {
  readonly key: string
  readonly family: FamilyPolicy
  readonly registration: Registration
}

const onlyReads = (capabilities: ReadonlyArray<Capability>) =>
  capabilities.length > 0 && capabilities.every((each) => each === "read" || each === "user")

/** The tools, of two with one name the later; tools with a reserved name (any case) are left out. */
export const toolsOf = (
  offerings: ReadonlyArray<Offering>,
  reserved: ReadonlySet<string>
): ReadonlyArray<ExtensionTool> => {
  const tools = new Map<string, ExtensionTool>()
  for (const { family, key, registration } of offerings) {
    for (const { capabilities, description, input_schema, name } of registration.tools) {
      if (reserved.has(name.toLowerCase())) continue
      const unasked = family.readOnlyToolsUnasked && onlyReads(capabilities)
      tools.set(name, { name, description, inputSchema: input_schema, capabilities, unasked, extension: key })
    }
  }
  return [...tools.values()]
}

/** A sentence for each tool that `toolsOf` leaves out. */
export const collisionsOf = (registration: Registration, reserved: ReadonlySet<string>): ReadonlyArray<string> =>
  registration.tools
    .filter(({ name }) => reserved.has(name.toLowerCase()))
    .map(({ name }) => `extension tool '${name}' collides with a built-in tool`)

/** The commands, of two with one name (any case) the earlier. */
export const commandsOf = (offerings: ReadonlyArray<Offering>): ReadonlyArray<ExtensionCommand> => {
  const commands = new Map<string, ExtensionCommand>()
  for (const { key, registration } of offerings) {
    for (const { description = "", name } of registration.commands) {
      const id = name.toLowerCase()
      if (!commands.has(id)) commands.set(id, { name, description, extension: key })
    }
  }
  return [...commands.values()]
}
