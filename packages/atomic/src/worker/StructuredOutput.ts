/** Small makers of tools and schemas that `@bastani/atomic` exports (seed 004, "Tool Definition"). */
import { chmodSync, writeFileSync } from "node:fs"
import { type Fields, fieldsOf, isFields, textOf } from "./Values.ts"

/** A text that is one of `values`, as a plain schema that every provider takes. */
export const StringEnum = (values: ReadonlyArray<string>, options?: unknown): Fields => {
  const { default: value, description } = fieldsOf(options)
  return {
    type: "string",
    enum: [...values],
    ...(typeof description === "string" ? { description } : {}),
    ...(value === undefined ? {} : { default: value })
  }
}

/** Something for a structured answer to be put into; `value` is there when it has been. */
export const createStructuredOutputCapture = (): Fields => ({ called: false, value: undefined })

/**
 * A tool that takes the final answer as arguments of `schema` and ends the run. The text of its result is the answer as JSON;
 * `capture` gets it as a value, and the file `output.outputPath`, readable by its owner alone, as JSON.
 */
export const createStructuredOutputTool = (options: unknown): Fields => {
  const { capture, name, output, schema } = fieldsOf(options)
  if (!isFields(schema)) throw new TypeError("createStructuredOutputTool: a schema is needed")
  const called = textOf(name) || "structured_output"
  return {
    name: called,
    label: "Structured Output",
    description: "Give the final answer in the required form. Call it once, when you are done.",
    promptSnippet: "Give the final answer in the required form",
    promptGuidelines: [`Use ${called} for the final answer, and say nothing after it.`],
    parameters: schema,
    structuredOutput: true,
    maxResultSizeChars: Infinity,
    execute: async (_id: unknown, answer: unknown) => {
      const text = JSON.stringify(answer, undefined, 2)
      if (isFields(capture)) Object.assign(capture, { called: true, value: answer })
      const { outputPath } = fieldsOf(output)
      if (typeof outputPath === "string") {
        writeFileSync(outputPath, `${text}\n`, { mode: 0o600 })
        chmodSync(outputPath, 0o600)
      }
      return { content: [{ type: "text", text }], details: answer, terminate: true }
    }
  }
}
