/** `git`: a look at the repository. It changes nothing and runs nothing that the repository's own configuration names. */
import { Effect } from "effect"
import type { JsonObject } from "@nimlet/protocol"
import { boundedArgument, textArgument } from "./Arguments.ts"
import { gather } from "./Gather.ts"
import { Operations } from "./Operations.ts"
import type { Processes } from "./Operations.ts"
import { boundHead, modelLimits } from "./Output.ts"
import { errorResult, textResult } from "./Tool.ts"
import type { Tool } from "./Tool.ts"

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 100
/** Room for the note at the end. */
const limits = { ...modelLimits, maxBytes: modelLimits.maxBytes - 128 }

/** What the caller decides. */
export interface GitOptions {
  /** The environment of git; the host's own when absent. */
  readonly env?: { readonly [name: string]: string }
}

/** Settings of a repository that would start a program while git only reads. */
const quietSettings = [
  "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.quotePath=false", "color.ui=false", "log.showSignature=false", "status.submoduleSummary=false"
].flatMap((setting) => ["-c", setting])

/**
 * Variables by which git would run programs, write trace files, take other settings or look at another repository. Where
 * the environment is given, everything of the name `GIT_*` is left out; the host's own cannot be listed here.
 */
const dropped = [
  "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_PAGER", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND",
  "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "GIT_CONFIG", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS",
  "GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_TRACE", "GIT_TRACE_SETUP", "GIT_TRACE_PERFORMANCE", "GIT_TRACE_PACKET", "GIT_TRACE_PACKFILE", "GIT_TRACE_PACK_ACCESS", "GIT_TRACE_REFS",
  "GIT_TRACE_SHALLOW", "GIT_TRACE_CURL", "GIT_TRACE_FSMONITOR", "GIT_TRACE2", "GIT_TRACE2_EVENT", "GIT_TRACE2_PERF"
]

/** Nothing to ask, no lock on the index, no fetching of what a partial clone lacks, paths without wildcards. */
const quietEnv = {
  ...Object.fromEntries(dropped.map((name) => [name, undefined])),
  GIT_TERMINAL_PROMPT: "0", GIT_OPTIONAL_LOCKS: "0", GIT_NO_LAZY_FETCH: "1", GIT_ALLOW_PROTOCOL: "none", GIT_LITERAL_PATHSPECS: "1"
}

/** The environment of git; undefined takes a name away. */
const envOf = ({ env }: GitOptions): { readonly [name: string]: string | undefined } =>
  ({ ...Object.fromEntries(Object.entries(env ?? {}).filter(([name]) => !/^GIT_/i.test(name))), ...quietEnv })

/** Diffs without external programs, submodules only by their commit. */
const plainDiff = ["--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=dirty"]

const commands: { readonly [operation: string]: (limit: number, commit: ReadonlyArray<string>) => ReadonlyArray<string> } = {
  status: () => ["status", "--short", "--branch", "--ignore-submodules=dirty"],
  log: (limit, commit) => ["log", `--max-count=${limit}`, "--format=%h %ad %an: %s", "--date=short", ...commit],
  show: (_, commit) => ["show", "--format=medium", "--stat", "--patch", ...plainDiff, ...commit],
  diff: (_, commit) => ["diff", ...plainDiff, ...commit],
  blame: (_, commit) => ["blame", "--no-textconv", "--date=short", ...commit]
}

/** Operations that compare with the files of the folder, not only with what is committed. */
const readsFiles = new Set(["status", "diff", "blame"])

const decoder = new TextDecoder()

/** One run of git; its output up to a little over the limit. */
const runGit = Effect.fnUntraced(function*(processes: Processes, options: GitOptions, args: ReadonlyArray<string>) {
  const pieces: Array<Uint8Array> = []
  let size = 0
  const { exit, stderr } = yield* gather("git", (onOutput) =>
    processes.run({
      command: "git",
      args: ["--no-pager", "--no-optional-locks", ...quietSettings, ...args],
      env: envOf(options),
      extendEnv: options.env === undefined,
      onOutput
    }), (chunk) => {
    if (size <= limits.maxBytes) pieces.push(chunk)
    size += chunk.length
    return size <= limits.maxBytes
  })
  return { exit, stderr, output: decoder.decode(Buffer.concat(pieces)) }
})

/** What the repository's own configuration sets, of keys that match: `[key, value]`. */
const ownSettings = Effect.fnUntraced(function*(processes: Processes, options: GitOptions, pattern: string) {
  const { output } = yield* runGit(processes, options, ["config", "--null", "--show-scope", "--get-regexp", pattern])
  return output.split("\0").flatMap((field, index, fields): ReadonlyArray<readonly [key: string, value: string]> => {
    const scope = fields[index - 1]
    if (index % 2 === 0 || (scope !== "local" && scope !== "worktree")) return []
    const [key = "", ...value] = field.split("\n")
    return [[key, value.join("\n")]]
  })
})

/** Whether the repository says that its files lie somewhere else than around the workspace. */
const liesElsewhere = Effect.fnUntraced(function*(processes: Processes, options: GitOptions, root: string) {
  const top = (yield* runGit(processes, options, ["rev-parse", "--show-toplevel"])).output.replace(/\n$/, "")
  return !`${root}/`.startsWith(top.endsWith("/") ? top : `${top}/`)
})

/**
 * What must hold before git looks at the files of the folder. It is looked around the workspace only, and clean filters,
 * which run for every file, are switched off by name where the repository's own configuration has them.
 */
const guardFiles = Effect.fnUntraced(function*(processes: Processes, options: GitOptions, root: string) {
  const settings = yield* ownSettings(processes, options, "^(core\\.worktree|filter\\..*\\.(clean|process))$")
  if (settings.some(([key]) => key === "core.worktree") && (yield* liesElsewhere(processes, options, root))) return undefined
  return settings.flatMap(([key]) => key === "core.worktree" ? [] : ["-c", `${key}=`, "-c", `${key.replace(/\.[a-z]+$/, ".required")}=false`])
})

const answer = Effect.fnUntraced(function*(processes: Processes, options: GitOptions, args: JsonObject, root: string, path: string | undefined) {
  const operation = textArgument(args, "operation") ?? "status"
  const command = commands[operation]
  if (command === undefined) return errorResult(`unknown operation: ${operation}`)
  const commit = textArgument(args, "commit")
  if (commit?.startsWith("-")) return errorResult("commit must not begin with -")
  if (operation === "blame" && path === undefined) return errorResult("blame needs a path")
  const parts = command(boundedArgument(args, "limit", DEFAULT_LIMIT, MAX_LIMIT), commit === undefined || commit === "" ? [] : [commit])
  const guards = readsFiles.has(operation) ? yield* guardFiles(processes, options, root) : []
  if (guards === undefined) return errorResult("the repository's configuration (core.worktree) puts its files outside the workspace")
  // Changed files outside the workspace are not shown; what is committed is.
  const place = path ?? (readsFiles.has(operation) ? "." : undefined)
  const { exit, output, stderr } = yield* runGit(processes, options, [...guards, ...parts, "--", ...(place === undefined ? [] : [place])])
  if (exit !== undefined && exit.code !== 0) return errorResult(stderr === "" ? `git ended with code ${exit.code}` : stderr)
  const { dropped, text } = boundHead(output, limits)
  if (dropped > 0 || exit === undefined) return textResult(`${text}\n[cut at the limit; narrow by path, commit or limit]`)
  return textResult(text === "" ? `No output: nothing to ${operation === "log" ? "show" : operation}.` : text)
})

/** The `git` tool. */
export const gitTool = (options: GitOptions = {}): Tool<Operations> => ({
  name: "git",
  description: "Look at the git repository, read-only. blame needs path; limit (log) is 20, at most 100. Up to 50 KB.",
  inputSchema: {
    type: "object",
    properties: {
      operation: { type: "string", enum: ["status", "log", "show", "diff", "blame"] },
      path: { type: "string" },
      commit: { type: "string", description: "commit or range" },
      limit: { type: "integer", minimum: 1 }
    },
    additionalProperties: false
  },
  capabilities: ["read"],
  run: Effect.fnUntraced(function*(args) {
    const { files, processes } = yield* Operations
    const path = textArgument(args, "path")
    // A file that git knows may be gone from the folder; it is named all the same.
    const shown = path === undefined ? undefined : (yield* files.locate(path)).shown
    return yield* answer(processes, options, args, (yield* files.locate(".")).real, shown)
  }, Effect.catch((error) => Effect.succeed(errorResult(error.message))))
})
