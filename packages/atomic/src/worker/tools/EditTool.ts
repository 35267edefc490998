/** `createEditTool`: exact replacements, each of a text that is there once, all of them or none. */
import { assertGoingOn, type CreatedTool, definition, operationsIn, pathIn, textResult } from "./CreatedTool.ts"
import { type EditOperations, localFiles } from "./Operations.ts"
import { withFileMutationQueue } from "../FileQueue.ts"
import { type Fields, fieldsOf, listOf, textOf } from "../Values.ts"

/** What an edit has beside its text: the changed places as lines with `-` and `+`. */
export interface EditToolDetails {
  readonly diff: string
}

const marked = (mark: string, text: string): ReadonlyArray<string> => text.split("\n").map((line) => `${mark}${line}`)

const applied = (text: string, path: string, edits: ReadonlyArray<Fields>): string =>
  edits.reduce((now: string, { newText, oldText }) => {
    const old = textOf(oldText)
    const at = old === "" ? -1 : now.indexOf(old)
    if (at === -1) throw new Error(`Could not find the text in ${path}; it must match exactly: ${JSON.stringify(old.slice(0, 200))}`)
    if (now.includes(old, at + 1)) throw new Error(`The text is there more than once in ${path}; give more of what surrounds it: ${JSON.stringify(old.slice(0, 200))}`)
    return now.slice(0, at) + textOf(newText) + now.slice(at + old.length)
  }, text)

const replacement = { type: "object", properties: { oldText: { type: "string" }, newText: { type: "string" } }, required: ["oldText", "newText"], additionalProperties: false }

/** Makes the tool `edit` for the folder `cwd`. */
export const createEditTool = (cwd: string, options?: unknown): CreatedTool => {
  const operations = operationsIn<EditOperations>(options, localFiles)
  return definition(
    "edit",
    "Replaces texts of a file. Each oldText must be there exactly once.",
    { path: { type: "string" }, edits: { type: "array", items: replacement } },
    ["path", "edits"],
    async (_id, params, signal) => {
      const path = textOf(fieldsOf(params)["path"])
      const edits = listOf(fieldsOf(params)["edits"]).map(fieldsOf)
      const file = pathIn(cwd, path)
      await withFileMutationQueue(file, async () => {
        assertGoingOn(signal)
        await operations.access(file)
        const content = await operations.readFile(file)
        await operations.writeFile(file, applied(typeof content === "string" ? content : Buffer.from(content).toString("utf8"), path, edits))
      })
      const diff = edits.flatMap(({ newText, oldText }) => [...marked("-", textOf(oldText)), ...marked("+", textOf(newText))]).join("\n")
      return textResult(`Replaced ${edits.length} ${edits.length === 1 ? "place" : "places"} in ${path}`, { diff })
    }
  )
}
