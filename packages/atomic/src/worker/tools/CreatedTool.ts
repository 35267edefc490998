/** A tool that `@bastani/atomic` makes: it can be registered, spread into another definition, or run by itself. */
import { isAbsolute, resolve } from "node:path"
import { userInfo } from "node:os"
import { type Fields, fieldsOf, isFields, textOf } from "../Values.ts"

/** What a call gives. */
export interface CreatedResult {
  readonly content: ReadonlyArray<Fields>
  readonly details?: Fields
}

/** Told what there is so far. */
export type OnUpdate = (partial: CreatedResult) => void

/** The definition; `execute` throws what goes wrong. */
export interface CreatedTool {
  readonly name: string
  readonly label: string
  readonly description: string
  readonly parameters: Fields
  readonly constrainedSampling: Fields
  readonly execute: (id: unknown, params: unknown, signal?: AbortSignal, onUpdate?: OnUpdate) => Promise<CreatedResult>
}

/** An author's operations are taken as they are: a missing one shows when it is called, in that call's result. */
const isGiven = <O extends object>(operations: unknown): operations is O => isFields(operations)

/** What a factory is given: operations of its own kind, whose absence means this machine. */
export const operationsIn = <O extends object>(options: unknown, here: O): O => {
  const { operations } = fieldsOf(options)
  return isGiven<O>(operations) ? operations : here
}

/** A result of one text. */
export const textResult = (text: string, details: Fields = {}): CreatedResult => ({ content: [{ type: "text", text }], details })

/** The absolute path a model means: a leading `@` is stripped, `~` is the home. */
export const pathIn = (cwd: string, given: unknown): string => {
  const bare = textOf(given).replace(/^@/, "").replace(/^~(?=\/|$)/, process.env["HOME"] || userInfo().homedir)
  return isAbsolute(bare) ? bare : resolve(cwd, bare)
}

/** Throws when the call was given up. */
export const assertGoingOn = (signal: AbortSignal | undefined): void => {
  if (signal?.aborted === true) throw new Error("Operation aborted")
}

const built = { type: "json_schema", strict: "prefer" }

/** The parts every created tool has. */
export const definition = (
  name: string,
  description: string,
  properties: Fields,
  required: ReadonlyArray<string>,
  execute: CreatedTool["execute"]
): CreatedTool => ({
  name,
  label: name,
  description,
  parameters: { type: "object", properties, required, additionalProperties: false },
  constrainedSampling: built,
  execute
})
