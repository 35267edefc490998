/** `write`: a whole new file, or an old one replaced on request. */
import { Effect } from "effect"
import { isSet, textArgument } from "./Arguments.ts"
import { diffDetails } from "./FileDiff.ts"
import { Operations } from "./Operations.ts"
import type { Files, Located } from "./Operations.ts"
import { MAX_WHOLE_BYTES } from "./ReadTool.ts"
import { decodeFile, lacks } from "./TextEncoding.ts"
import { errorResult, preferStrict, textResult } from "./Tool.ts"
import type { Tool, ToolContext } from "./Tool.ts"
import { versionOf } from "./Version.ts"
import { readWhole } from "./WholeFile.ts"

/** What the file holds; undefined when it is too large or cannot be read. */
const oldBytes = (files: Files, file: Located) =>
  readWhole(files, file, MAX_WHOLE_BYTES).pipe(Effect.catchTag("FileFailed", () => Effect.undefined))

const put = Effect.fnUntraced(function*(files: Files, file: Located, content: string, { changing }: ToolContext) {
  const bytes = new TextEncoder().encode(content)
  const old = file.exists ? yield* oldBytes(files, file) : undefined
  const before = old === undefined ? undefined : decodeFile(old)?.text
  const mode = file.exists ? (yield* files.info(file)).mode : undefined
  const version = versionOf(bytes)
  if (changing !== undefined) yield* changing({ path: file.shown, before: file.exists ? old ?? "unknown" : "missing", after: version })
  yield* files.replace(file, bytes, mode)
  const details = file.exists && before === undefined ? { path: file.shown } : diffDetails(file.shown, before, content)
  return textResult(
    `OK — ${file.shown}\n${file.exists ? "replaced" : "created"}, ${bytes.length} bytes\nversion: ${version}`,
    details
  )
})

/** The `write` tool. */
export const writeTool: Tool<Operations> = {
  name: "write",
  description: "Write a whole UTF-8 file; folders are made. An existing file needs overwrite: true; prefer edit for changes.",
  inputSchema: {
    type: "object",
    properties: { path: { type: "string" }, content: { type: "string" }, overwrite: { type: "boolean" } },
    required: ["path", "content"],
    additionalProperties: false
  },
  constrainedSampling: preferStrict,
  capabilities: ["write"],
  run: Effect.fnUntraced(function*(args, context) {
    const { files } = yield* Operations
    const path = textArgument(args, "path") ?? ""
    const content = textArgument(args, "content") ?? ""
    if (lacks(content, "UTF-8") !== undefined) return errorResult("content has half a surrogate pair, which is no character")
    return yield* files.exclusively(
      yield* files.locate(path),
      Effect.gen(function*() {
        // Whether it exists is only known once nobody else writes it.
        const file = yield* files.locate(path)
        if (file.exists && (yield* files.info(file)).kind === "directory") return errorResult(`${file.shown} is a folder; give the path of a file in it`)
        if (file.exists && !isSet(args, "overwrite")) {
          return errorResult(`${file.shown} already exists; use edit, or write with overwrite: true`)
        }
        return yield* put(files, file, content, context)
      })
    )
  }, Effect.catch((error) => Effect.succeed(errorResult(error.message))))
}
