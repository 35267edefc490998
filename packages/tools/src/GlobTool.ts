/** `glob`: files by a path pattern, by ripgrep's walk. */
import { Effect, Result } from "effect"
import * as Glob from "effect/Glob"
import { textArgument } from "./Arguments.ts"
import { gather, makeRecords } from "./Gather.ts"
import { plainPath, ripgrepFlags } from "./GrepTool.ts"
import { Operations } from "./Operations.ts"
import { errorResult, textResult } from "./Tool.ts"
import type { Tool } from "./Tool.ts"

const MAX_FILES = 200
const NUL = 0

/** The folder a pattern names before its first wildcard, and the pattern below it; a pattern without one names a file. */
export const splitPattern = (pattern: string): { readonly folder: string; readonly rest: string } => {
  const segments = pattern.split("/")
  const wild = segments.findIndex((segment) => /[*?[{\\]/.test(segment))
  const at = wild === -1 ? segments.length : wild
  const folder = segments.slice(0, at).join("/")
  return { folder: folder === "" && at > 0 ? "/" : folder, rest: segments.slice(at).join("/") }
}

const none = textResult("No files. Ignored files are not listed; give an exact path to find one.")

/** The `glob` tool. */
export const globTool: Tool<Operations> = {
  name: "glob",
  description: "Find files by path pattern: * within one folder, ** any depth, ?, {a,b}; ignored files are skipped. At most 200.",
  inputSchema: {
    type: "object",
    properties: { pattern: { type: "string", description: "e.g. src/**/*.ts" }, path: { type: "string", description: "folder to start in" } },
    required: ["pattern"]
  },
  capabilities: ["read"],
  run: Effect.fnUntraced(function*(args) {
    const { files, search } = yield* Operations
    const { folder, rest } = splitPattern(textArgument(args, "pattern") ?? "")
    const start = textArgument(args, "path")
    const place = yield* files.locate(start === undefined || folder.startsWith("/") ? folder || "." : `${start}/${folder}`)
    if (!place.exists) return none
    const { kind } = yield* files.info(place)
    if (rest === "") return kind === "directory" ? errorResult(`${place.shown} is a folder; use ls, or a pattern such as ${place.shown}/**`) : textResult(place.shown)
    if (kind !== "directory") return none
    const compiled = Result.try(() => Glob.make(rest, { dot: true }))
    if (Result.isFailure(compiled)) return errorResult("pattern: it is too complex")
    const prefix = place.shown === "." ? 0 : place.shown.length + 1
    const found: Array<string> = []
    let more = false
    const records = makeRecords(NUL, (record) => {
      const path = plainPath(record)
      if (!Glob.match(compiled.success, path.slice(prefix))) return true
      more = found.length >= MAX_FILES
      if (!more) found.push(path)
      return !more
    })
    const { exit, stderr } = yield* gather("ripgrep", (onOutput) =>
      search.ripgrep({ args: [...ripgrepFlags, "--files", "--null", "--", place.shown], onOutput }), records.push)
    if (found.length > 0) return textResult(found.join("\n") + (more ? "\n[cut: there are more files; narrow the pattern]" : ""))
    return exit !== undefined && exit.code > 1 ? errorResult(stderr === "" ? `ripgrep ended with code ${exit.code}` : stderr) : none
  }, Effect.catch((error) => Effect.succeed(errorResult(error.message))))
}
