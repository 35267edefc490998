/** `glob`: files by a path pattern, by ripgrep's walk. */
import { Effect, Result } from "effect"
import * as Glob from "effect/Glob"
import { isSet, textArgument } from "./Arguments.ts"
import { gather, makeRecords, searchFault } from "./Gather.ts"
import { ripgrepFlags } from "./GrepTool.ts"
import { FEW_RESULTS, ignoredNote, plainPath } from "./IgnoredFiles.ts"
import { Operations } from "./Operations.ts"
import type { ProcessRequest } from "./Operations.ts"
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

/** Why a pattern can match nothing; undefined when it can. */
const patternFault = (pattern: string): string | undefined => {
  if (pattern.trim() === "") return "pattern: it is empty; ** stands for all files"
  const braces = pattern.replaceAll(/\\.|\[[^\]]*\]/g, "").replaceAll(/[^{}]/g, "")
  let open = 0
  for (const brace of braces) open = Math.max(0, open + (brace === "{" ? 1 : -1))
  return open > 0 ? "pattern: it has a { without }; \\{ stands for the character" : undefined
}

/** The `glob` tool. */
export const globTool: Tool<Operations> = {
  name: "glob",
  description: "Find files by path pattern: * in one folder, ** any depth, ?, {a,b}. Hidden files too, ignored ones only on request. At most 200.",
  inputSchema: {
    type: "object",
    properties: {
      pattern: { type: "string", description: "e.g. src/**/*.ts" },
      path: { type: "string", description: "folder to start in" },
      include_ignored: { type: "boolean" }
    },
    required: ["pattern"],
    additionalProperties: false
  },
  capabilities: ["read"],
  run: Effect.fnUntraced(function*(args) {
    const { files, search } = yield* Operations
    const pattern = textArgument(args, "pattern") ?? ""
    const fault = patternFault(pattern)
    if (fault !== undefined) return errorResult(fault)
    const { folder, rest } = splitPattern(pattern)
    const start = textArgument(args, "path")
    const place = yield* files.locate(start === undefined || folder.startsWith("/") ? folder || "." : `${start}/${folder}`)
    if (!place.exists) return textResult("No files.")
    const { kind } = yield* files.info(place)
    if (rest === "") return kind === "directory" ? errorResult(`${place.shown} is a folder; use ls, or a pattern such as ${place.shown}/**`) : textResult(place.shown)
    if (kind !== "directory") return textResult("No files.")
    const compiled = Result.try(() => Glob.make(rest, { dot: true }))
    if (Result.isFailure(compiled)) return errorResult("pattern: it is too complex")
    const prefix = place.shown === "." ? 0 : place.shown.length + 1
    const wanted = (path: string): boolean => Glob.match(compiled.success, path.slice(prefix))
    const found = new Set<string>()
    let more = false
    const records = makeRecords(NUL, (record) => {
      const path = plainPath(record)
      if (!wanted(path)) return true
      more = found.size >= MAX_FILES
      if (!more) found.add(path)
      return !more
    })
    const run = (flags: ReadonlyArray<string>) => (onOutput: ProcessRequest["onOutput"]) =>
      search.ripgrep({ args: [...ripgrepFlags, ...flags, "--files", "--null", "--", place.shown], onOutput })
    const past = isSet(args, "include_ignored")
    const { exit, stderr } = yield* gather("ripgrep", run(["--sort=path", ...(past ? ["--no-ignore"] : [])]), records.push)
    const list = [...found].join("\n")
    if (more) return textResult(`${list}\n[cut: there are more files; narrow the pattern]`)
    if (list === "" && exit !== undefined && exit.code > 1) return errorResult(searchFault(exit.code, stderr))
    const note = past || found.size >= FEW_RESULTS ? "" : yield* ignoredNote({ run: run(["--no-ignore"]), wanted, known: found })
    if (list === "") return textResult(note === "" ? "No files." : `No files. ${note}`)
    return textResult(note === "" ? list : `${list}\n[${note}]`)
  }, Effect.catch((error) => Effect.succeed(errorResult(error.message))))
}
