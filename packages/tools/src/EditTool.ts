/** `edit`: exact texts replaced in one file, all or nothing. */
import { Effect, Result } from "effect"
import type { JsonObject } from "@nimlet/protocol"
import { textArgument } from "./Arguments.ts"
import { applyReplacements, MAX_OCCURRENCES } from "./EditMatch.ts"
import type { Edited, EditFailure, Replacement } from "./EditMatch.ts"
import { fileDiff } from "./FileDiff.ts"
import { Operations } from "./Operations.ts"
import type { Files, Located } from "./Operations.ts"
import { MAX_WHOLE_BYTES } from "./ReadTool.ts"
import { errorResult, textResult } from "./Tool.ts"
import type { Tool, ToolResult } from "./Tool.ts"
import { versionOf } from "./Version.ts"
import { readWhole } from "./WholeFile.ts"

const BOM = "\ufeff"
const MAX_LINE_CHARS = 200

const refused = (reason: string): ToolResult => errorResult(`EDIT_FAILED: ${reason}`)

/** The replacements of a call: `old_text` and `new_text` first, then those of `replacements`. */
const replacementsOf = (args: JsonObject): ReadonlyArray<Replacement> => {
  const list = Array.isArray(args["replacements"]) ? args["replacements"] : []
  return (textArgument(args, "old_text") === undefined ? list : [args, ...list]).map((one: JsonObject) => ({
    oldText: textArgument(one, "old_text") ?? "",
    newText: textArgument(one, "new_text") ?? ""
  }))
}

const clipped = (line: string): string => line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS)}...` : line

/** Why an edit failed, for the model; nothing was written. */
const explain = (failure: EditFailure, count: number, file: Located, version: string): string => {
  const which = count === 1 ? "old_text" : `old_text of replacement ${failure.index + 1} of ${count}`
  const end = `\nNothing was changed. version: ${version}`
  switch (failure.reason) {
    case "empty":
      return `${which} is empty${end}`
    case "same":
      return `${which} and new_text are equal${end}`
    case "repeated": {
      const more = failure.count > failure.lines.length ? ", ..." : ""
      const times = failure.count >= MAX_OCCURRENCES ? `at least ${failure.count}` : String(failure.count)
      return `${which} occurs ${times} times in ${file.shown}, on lines ${failure.lines.join(", ")}${more}; add lines around it until it is unique${end}`
    }
    case "missing": {
      const near = failure.near.map(({ line, text }) => `\n${line} | ${clipped(text)}`).join("")
      return `${which} does not occur in ${file.shown}${near === "" ? "" : `; similar lines:${near}`}${end}`
    }
  }
}

const spanText = (spans: Edited["spans"]): string =>
  spans.map(({ first, last }) => first === last ? String(first) : `${first}-${last}`).join(", ")

/** Strict, so that no byte of a file that is not UTF-8 is lost. */
const decodeStrictly = (bytes: Uint8Array): Result.Result<string, unknown> =>
  Result.try(() => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes))

const change = Effect.fnUntraced(function*(files: Files, file: Located, args: JsonObject) {
  const replacements = replacementsOf(args)
  if (replacements.length === 0) return refused("give old_text and new_text, or replacements")
  const bytes = yield* readWhole(files, file, MAX_WHOLE_BYTES)
  const version = versionOf(bytes)
  const expected = textArgument(args, "expected_version")
  if (expected !== undefined && expected !== version) {
    return refused(`${file.shown} has changed: its version is ${version}, not ${expected}; read it again`)
  }
  const decoded = decodeStrictly(bytes)
  if (Result.isFailure(decoded)) return refused(`${file.shown} is not UTF-8 text`)
  const bom = decoded.success.startsWith(BOM) ? BOM : ""
  const before = decoded.success.slice(bom.length)
  const edited = applyReplacements(before, replacements)
  if (Result.isFailure(edited)) return refused(explain(edited.failure, replacements.length, file, version))
  const { spans, text } = edited.success
  const after = new TextEncoder().encode(bom + text)
  yield* files.replace(file, after, (yield* files.info(file)).mode)
  const diff = fileDiff(file.shown, before, text)
  return textResult(
    `OK — ${file.shown}\nversion: ${versionOf(after)}\nreplacements: ${replacements.length}, lines ${spanText(spans)}`,
    { path: file.shown, ...(diff === undefined ? {} : { diff }) }
  )
})

const texts = { old_text: { type: "string" }, new_text: { type: "string" } }

/** The `edit` tool. */
export const editTool: Tool<Operations> = {
  name: "edit",
  description: "Replace exact text in a UTF-8 file up to 10 MB, all or nothing. Each old_text must occur exactly once; replacements run in order.",
  inputSchema: {
    type: "object",
    properties: {
      path: { type: "string" },
      ...texts,
      replacements: { type: "array", items: { type: "object", properties: texts, required: ["old_text", "new_text"] } },
      expected_version: { type: "string", description: "from read" }
    },
    required: ["path"]
  },
  capabilities: ["write"],
  run: Effect.fnUntraced(function*(args) {
    const { files } = yield* Operations
    const file = yield* files.locate(textArgument(args, "path") ?? "")
    return yield* files.exclusively(file, change(files, file, args))
  }, Effect.catch((error) => Effect.succeed(refused(error.message))))
}
