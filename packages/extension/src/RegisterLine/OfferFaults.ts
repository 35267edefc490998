/** What an author should know of a `register` line, whether it ends the start or not. Pure. */
import type { JsonObject } from "@nimlet/protocol"
import { isJsonObject } from "../Json.ts"
import { schemaFaults } from "./SchemaFaults.ts"

/** So many are told of one line. */
const most = 8

const listOf = (line: JsonObject, field: string): ReadonlyArray<unknown> => {
  const list = line[field]
  return Array.isArray(list) ? list : []
}
const isAbsent = (value: unknown): boolean => value === undefined || value === null
const nameOf = (value: JsonObject): string => typeof value.name === "string" ? value.name.trim() : ""

/** An entry as a person finds it: by its name, else by its place. */
const shown = (kind: string, value: unknown, index: number): string => {
  const name = isJsonObject(value) ? nameOf(value) : ""
  return name === "" ? `${kind} ${index + 1}` : `${kind} ${JSON.stringify(name)}`
}

/** Names that stand twice, in any case where `fold` says so. */
const twice = (list: ReadonlyArray<unknown>, fold: (name: string) => string): ReadonlyArray<string> => {
  const names = list.filter(isJsonObject).map(nameOf).filter((name) => name !== "")
  return [...new Set(names.filter((name, index) => names.findIndex((other) => fold(other) === fold(name)) < index))]
}

const ofTool = (value: unknown): ReadonlyArray<string> => {
  if (!isJsonObject(value)) return ["must be an object"]
  const { description, input_schema } = value
  return [
    ...(nameOf(value) === "" ? ["name must be a text that is not empty"] : []),
    ...(typeof description === "string" && description !== "" ? [] : ["description must be a text that is not empty"]),
    ...(isJsonObject(input_schema) ? schemaFaults(input_schema).map(({ at, must }) => `${at} must ${must}`) : ["input_schema must be an object"])
  ]
}

const ofCommand = (value: unknown): ReadonlyArray<string> => {
  if (!isJsonObject(value)) return ["must be an object"]
  const { description, while_busy } = value
  const name = nameOf(value)
  return [
    ...(name === "" ? ["name must be a text that is not empty"] : []),
    ...(/[\s\p{Cc}]/u.test(name) || name.startsWith("/") ? ["nobody can type this name: it is what follows the /, without spaces"] : []),
    ...(isAbsent(description) || typeof description === "string" ? [] : ["description must be a text; it was ignored"]),
    ...(isAbsent(while_busy) || typeof while_busy === "boolean" ? [] : ["while_busy must be true or false; it was ignored"])
  ]
}

/** The faults of what a line offers, a sentence each, naming tool or command and field. */
export const offerFaults = (line: JsonObject): ReadonlyArray<string> => {
  const tools = listOf(line, "tools")
  const commands = listOf(line, "commands")
  const all = [
    ...tools.flatMap((each, index) => ofTool(each).map((fault) => `${shown("tool", each, index)}: ${fault}`)),
    ...twice(tools, (name) => name).map((name) => `tool ${JSON.stringify(name)}: the name stands twice in one registration; the later one counts`),
    ...commands.flatMap((each, index) => ofCommand(each).map((fault) => `${shown("command", each, index)}: ${fault}`)),
    ...twice(commands, (name) => name.toLowerCase()).map((name) => `command ${JSON.stringify(name)}: the name stands twice in one registration; the first one counts`)
  ]
  return all.length <= most ? all : [...all.slice(0, most), `${all.length - most} more faults of its registration`]
}
