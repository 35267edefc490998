/** The `register` line → what the extension offers, or why the start fails (seed 000, "register"; seed 001). */
import { Result, Schema } from "effect"
import { Capability, defaultCapabilities, type JsonObject, type RegisteredTool, type Registration, RegistrationExtras, ToolExtras } from "@nimlet/protocol"
import { isJsonObject } from "./Json.ts"
import { modesIn, providersIn } from "./RegisterLine/Offers.ts"
import { firstBroken, type Rule, rule } from "./Rules.ts"

const nullOr = (shape: Schema.Schema<unknown>) => Schema.optionalKey(Schema.NullOr(shape))
const list = Schema.Array(Schema.Unknown)
const notBlank = Schema.String.check(Schema.isPattern(/\S/))

const rules: ReadonlyArray<Rule> = [
  rule(Schema.Struct({ type: Schema.Literal("register") }), "expected register response"),
  rule(Schema.Struct({ commands: list }), "register commands must be an array"),
  rule(Schema.Struct({ events: nullOr(list) }), "register events must be an array"),
  rule(Schema.Struct({ events: nullOr(Schema.Array(Schema.String)) }), "register events must be strings"),
  rule(Schema.Struct({ tools: nullOr(list) }), "register tools must be an array"),
  rule(Schema.Struct({ providers: nullOr(list) }), "register providers must be an array"),
  rule(Schema.Struct({ modes: nullOr(list) }), "register modes must be an array")
]

const Tool = Schema.Struct({
  name: notBlank,
  description: Schema.NonEmptyString,
  input_schema: Schema.Record(Schema.String, Schema.Unknown),
  capabilities: Schema.optionalKey(Schema.Unknown),
  extras: Schema.optionalKey(Schema.Unknown)
})
const isToolExtras = Schema.is(ToolExtras)
const isExtras = Schema.is(RegistrationExtras)
const isTool = Schema.is(Tool)
const isCapability = Schema.is(Capability)

const capabilitiesOf = (value: unknown): Result.Result<ReadonlyArray<Capability>, string> => {
  if (value === undefined || value === null) return Result.succeed(defaultCapabilities)
  if (!Array.isArray(value)) return Result.fail("capabilities must be an array")
  const found: Array<Capability> = []
  for (const each of value) {
    if (typeof each !== "string") return Result.fail("capabilities must contain strings")
    const capability = each.toLowerCase()
    if (!isCapability(capability)) return Result.fail(`unknown capability: ${each}`)
    found.push(capability)
  }
  return Result.succeed(found.length === 0 ? defaultCapabilities : found)
}

const toolOf = (value: unknown): Result.Result<RegisteredTool, string> => {
  if (!isTool(value)) return Result.fail("registered tools require name, description, and input_schema")
  const name = value.name.trim()
  const { description, extras, input_schema } = value
  return Result.mapBoth(capabilitiesOf(value.capabilities), {
    onFailure: (reason) => `invalid capabilities for tool '${name}': ${reason}`,
    onSuccess: (capabilities) => ({ name, description, input_schema, capabilities, ...(isToolExtras(extras) ? { extras } : {}) })
  })
}

const commandOf = (command: unknown): Result.Result<Registration["commands"][number], string> => {
  const { description, name, while_busy }: JsonObject = isJsonObject(command) ? command : {}
  if (typeof name !== "string" || name.trim() === "") return Result.fail("registered commands require a name")
  return Result.succeed({
    name: name.trim(),
    description: typeof description === "string" ? description : "",
    ...(typeof while_busy === "boolean" ? { while_busy } : {})
  })
}

const listOf = (line: JsonObject, field: string): ReadonlyArray<unknown> =>
  Array.isArray(line[field]) ? line[field] : []

/** Decodes the first JSON line of an extension; one bad part fails all, and nothing of the line counts. */
export const decodeRegister = (line: unknown): Result.Result<Registration, string> => {
  const reason = firstBroken(rules, line)
  if (reason !== undefined || !isJsonObject(line)) return Result.fail(reason ?? "expected register response")
  const { extras } = line
  const registered = Result.all({
    commands: Result.all(listOf(line, "commands").map(commandOf)),
    tools: Result.all(listOf(line, "tools").map(toolOf)),
    events: Result.succeed(listOf(line, "events").filter((event) => typeof event === "string")),
    providers: providersIn(listOf(line, "providers")),
    modes: modesIn(listOf(line, "modes"))
  })
  return isExtras(extras) ? Result.map(registered, (offer) => ({ ...offer, extras })) : registered
}
