/** `edit`: exact texts replaced in one file, all or nothing. */
import { Effect, Result } from "effect"
import { beginningOf, type JsonObject } from "@nimlet/protocol"
import { isSet, textArgument } from "./Arguments.ts"
import { applyReplacements, MAX_OCCURRENCES } from "./EditMatch.ts"
import type { Edited, EditFailure, Replacement } from "./EditMatch.ts"
import { diffDetails } from "./FileDiff.ts"
import { Operations } from "./Operations.ts"
import type { Files, Located } from "./Operations.ts"
import { MAX_WHOLE_BYTES } from "./ReadTool.ts"
import { decodeFile, encodeFile, lacks } from "./TextEncoding.ts"
import type { EncodingName } from "./TextEncoding.ts"
import { errorResult, preferStrict, textResult } from "./Tool.ts"
import type { Tool, ToolContext, ToolResult } from "./Tool.ts"
import { versionOf } from "./Version.ts"
import { readWhole } from "./WholeFile.ts"

const MAX_LINE_CHARS = 200
/** So many places are named; a replacement of all may touch thousands. */
const MAX_SPANS = 20

const refused = (reason: string): ToolResult => errorResult(`EDIT_FAILED: ${reason}`)

/** The replacements of a call: `old_text` and `new_text` first, then those of `replacements`; or why they cannot be told. */
const replacementsOf = (args: JsonObject): Result.Result<ReadonlyArray<Replacement>, string> => {
  const list: ReadonlyArray<JsonObject> = Array.isArray(args["replacements"]) ? args["replacements"] : []
  const own = textArgument(args, "old_text") !== undefined || textArgument(args, "new_text") !== undefined
  const given = own ? [args, ...list] : list
  if (given.length === 0) return Result.fail("give old_text and new_text, or replacements")
  const replacements: Array<Replacement> = []
  for (const [index, one] of given.entries()) {
    const oldText = textArgument(one, "old_text")
    const newText = textArgument(one, "new_text")
    if (oldText === undefined || newText === undefined) {
      const where = own && index === 0 ? "" : ` in replacements[${own ? index - 1 : index}]`
      return Result.fail(oldText === undefined
        ? `old_text is missing${where}; give the text that new_text replaces`
        : `new_text is missing${where}; give it, as "" where old_text is to be deleted`)
    }
    replacements.push({ oldText, newText, all: isSet(args, "replace_all") })
  }
  return Result.succeed(replacements)
}

/** What a file of this encoding cannot take, in words; undefined when it can take all. */
const unfit = (replacements: ReadonlyArray<Replacement>, encoding: EncodingName): string | undefined => {
  for (const { newText, oldText } of replacements) {
    if (lacks(oldText, "UTF-8") !== undefined) return "old_text has half a surrogate pair, which is no character"
    const character = lacks(newText, encoding)
    if (character !== undefined) return `new_text has the character ${JSON.stringify(character)}, which ${encoding}, the encoding of the file, cannot hold`
  }
  return undefined
}

const clipped = (line: string): string => line.length > MAX_LINE_CHARS ? `${beginningOf(line, MAX_LINE_CHARS)}...` : line

const explainPlaces = (shown: string) => ({ count, lines }: { readonly count: number; readonly lines: ReadonlyArray<number> }): string => {
  const times = count >= MAX_OCCURRENCES ? `at least ${count}` : String(count)
  return `${count === 1 ? "once" : `${times} times`} in ${shown}, on ${count === 1 ? "line" : "lines"} ${lines.join(", ")}${count > lines.length ? ", ..." : ""}`
}

/** Why an edit failed, for the model; nothing was written. */
const explain = (failure: EditFailure, count: number, file: Located, version: string): string => {
  const which = count === 1 ? "old_text" : `old_text of replacement ${failure.index + 1} of ${count}`
  const end = `\nNothing was changed. version: ${version}`
  const placesText = explainPlaces(file.shown)
  switch (failure.reason) {
    case "empty":
      return `${which} is empty${end}`
    case "same":
      return `${which} and new_text are equal${end}`
    case "repeated":
      return `${which} occurs ${placesText(failure)}; add lines around it until it is unique, or set replace_all${end}`
    case "missing": {
      const near = failure.near.map(({ line, text }) => `\n${line} | ${clipped(text)}`).join("")
      const { taken } = failure
      if (taken !== undefined) {
        const by = `replacement ${taken.by + 1} of ${count}`
        return `${which} overlaps ${by}, which changed it: before, it occurred ${placesText(taken)}. Make one replacement of both, or give old_text as ${by} leaves it${near === "" ? "" : `; similar lines now:${near}`}${end}`
      }
      return `${which} does not occur in ${file.shown}${near === "" ? "" : `; similar lines:${near}`}${end}`
    }
  }
}

const spanText = (spans: Edited["spans"]): string => {
  const shown = spans.slice(0, MAX_SPANS).map(({ first, last }) => first === last ? String(first) : `${first}-${last}`).join(", ")
  return spans.length > MAX_SPANS ? `${shown} and ${spans.length - MAX_SPANS} more places` : shown
}

const change = Effect.fnUntraced(function*(files: Files, file: Located, args: JsonObject, { changing }: ToolContext) {
  const asked = replacementsOf(args)
  if (Result.isFailure(asked)) return refused(asked.failure)
  const replacements = asked.success
  const bytes = yield* readWhole(files, file, MAX_WHOLE_BYTES)
  const version = versionOf(bytes)
  const expected = textArgument(args, "expected_version")
  if (expected !== undefined && expected !== version) {
    return refused(`${file.shown} has changed: its version is ${version}, not ${expected}; read it again`)
  }
  const before = decodeFile(bytes)
  if (before === undefined) return refused(`${file.shown} is a binary file`)
  const wrong = unfit(replacements, before.encoding)
  if (wrong !== undefined) return refused(wrong)
  const edited = applyReplacements(before.text, replacements)
  if (Result.isFailure(edited)) return refused(explain(edited.failure, replacements.length, file, version))
  const { places, spans, text } = edited.success
  const after = encodeFile(text, before)
  const { mode } = yield* files.info(file)
  const written = versionOf(after)
  if (changing !== undefined) yield* changing({ path: file.shown, before: bytes, after: written })
  yield* files.replace(file, after, mode)
  return textResult(
    `OK — ${file.shown}\nversion: ${written}\nreplacements: ${places}, lines ${spanText(spans)}`,
    diffDetails(file.shown, before.text, text)
  )
})

const texts = { old_text: { type: "string" }, new_text: { type: "string" } }

/** The `edit` tool. */
export const editTool: Tool<Operations> = {
  name: "edit",
  description: "Replace exact text in a file up to 10 MB, all or nothing. Each old_text must occur once, unless replace_all; replacements run in order.",
  inputSchema: {
    type: "object",
    properties: {
      path: { type: "string" },
      ...texts,
      replacements: { type: "array", items: { type: "object", properties: texts, required: ["old_text", "new_text"], additionalProperties: false } },
      replace_all: { type: "boolean" },
      expected_version: { type: "string", description: "from read" }
    },
    required: ["path"],
    additionalProperties: false
  },
  constrainedSampling: preferStrict,
  capabilities: ["write"],
  run: Effect.fnUntraced(function*(args, context) {
    const { files } = yield* Operations
    const file = yield* files.locate(textArgument(args, "path") ?? "")
    return yield* files.exclusively(file, change(files, file, args, context))
  }, Effect.catch((error) => Effect.succeed(refused(error.message))))
}
