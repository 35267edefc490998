/** `ls`: what a folder holds. */
import { Effect } from "effect"
import { textArgument } from "./Arguments.ts"
import { Operations } from "./Operations.ts"
import { boundHead, modelLimits } from "./Output.ts"
import { errorResult, textResult } from "./Tool.ts"
import type { Tool } from "./Tool.ts"

const MAX_ENTRIES = 500

/** The `ls` tool. */
export const lsTool: Tool<Operations> = {
  name: "ls",
  description: "List a folder, hidden entries too, folders with a trailing /. At most 500 entries and 50 KB.",
  inputSchema: { type: "object", properties: { path: { type: "string" } }, additionalProperties: false },
  capabilities: ["read"],
  run: Effect.fnUntraced(function*(args) {
    const { files } = yield* Operations
    const folder = yield* files.locate(textArgument(args, "path") ?? ".")
    const { kind } = yield* files.info(folder)
    if (kind !== "directory") return errorResult(`${folder.shown} is a file, not a folder`)
    const entries = yield* files.list(folder)
    if (entries.length === 0) return textResult(`${folder.shown} is empty`)
    const names = entries.map((entry) => entry.kind === "directory" ? `${entry.name}/` : entry.name).sort()
    const shown = boundHead(names.slice(0, MAX_ENTRIES).join("\n"), { ...modelLimits, maxBytes: modelLimits.maxBytes - 128 })
    return textResult(names.length > MAX_ENTRIES || shown.dropped > 0
      ? `${shown.text}\n[cut: the folder has ${names.length} entries; use glob to narrow]`
      : shown.text)
  }, Effect.catch((error) => Effect.succeed(errorResult(error.message))))
}
