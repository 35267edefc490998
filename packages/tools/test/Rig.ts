/** A real temporary workspace with the host's own Operations. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem, Layer, Path } from "effect"
import type { JsonObject } from "@nimlet/protocol"
import { FileFailed, layerLocal, Operations } from "../src/index.ts"
import type { Files, LocalOptions, ProcessExit, ProcessRequest, Tool, ToolResult } from "../src/index.ts"

/** The texts of a result, joined. */
export const textOf = (result: ToolResult): string =>
  result.content.map((part) => part.type === "text" ? part.text : `<${part.mimeType}>`).join("\n")

/** Calls a tool and gathers what it published live. */
export const call = <R>(tool: Tool<R>, args: JsonObject) =>
  Effect.suspend(() => {
    const live: Array<string> = []
    const output = (delta: string) => Effect.sync(() => { live.push(delta) })
    return Effect.map(tool.run(args, { output }), (result) => ({ ...result, text: textOf(result), live }))
  })

/** Files of a temporary folder, by relative path. */
export const makeFolder = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = yield* fs.realPath(yield* fs.makeTempDirectoryScoped({ prefix: "nimlet tools " }))
  const at = (name: string) => path.join(root, name)
  return {
    root,
    at,
    put: Effect.fnUntraced(function*(name: string, content: string | Uint8Array) {
      yield* fs.makeDirectory(path.dirname(at(name)), { recursive: true })
      yield* fs.writeFile(at(name), typeof content === "string" ? new TextEncoder().encode(content) : content)
    }),
    /** Decoded with its byte order mark, unlike `readFileString`. */
    text: (name: string) => Effect.map(fs.readFile(at(name)), (bytes) => Buffer.from(bytes).toString("utf8")),
    bytes: (name: string) => Effect.map(fs.readFile(at(name)), (bytes) => Buffer.from(bytes)),
    names: (name: string) => Effect.map(fs.readDirectory(at(name)), (names) => [...names].sort()),
    mode: (name: string) => Effect.map(fs.stat(at(name)), (info) => info.mode & 0o777),
    link: (target: string, name: string) => fs.symlink(target, at(name)),
    fs
  }
})

export type Folder = Effect.Success<typeof makeFolder>

/** Runs `body` in a workspace of its own, which is gone afterwards. */
export const inWorkspace = <A, E, R>(
  body: (folder: Folder) => Effect.Effect<A, E, R>,
  options: Omit<LocalOptions, "workspace"> = {},
  /** Changes to the file system the Operations see, for a single failure or a race. */
  broken: (fs: FileSystem.FileSystem) => Partial<FileSystem.FileSystem> = () => ({})
) =>
  Effect.gen(function*() {
    const folder = yield* makeFolder
    const seen = Layer.succeed(FileSystem.FileSystem, { ...folder.fs, ...broken(folder.fs) })
    return yield* body(folder).pipe(Effect.provide(layerLocal({ workspace: folder.root, ...options }).pipe(Layer.provide(seen))))
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

/** Operations whose every process is `run`, whose files never answer but for `files`, and which can keep nothing. */
export const fakeOperations = (run: (request: ProcessRequest) => Effect.Effect<ProcessExit>, files: Partial<Files> = {}) =>
  Layer.succeed(Operations, {
    processes: { run },
    search: { ripgrep: (request) => run({ ...request, command: "rg" }) },
    files: {
      locate: () => Effect.never,
      info: () => Effect.never,
      scan: () => Effect.never,
      list: () => Effect.never,
      replace: () => Effect.never,
      remove: () => Effect.never,
      exclusively: (_, self) => self,
      spill: () => Effect.fail(new FileFailed({ path: "spill", reason: "the disk is full" })),
      ...files
    }
  })
