/**
 * What the built-in tools need from a machine: files, processes, search. The host has one implementation
 * (`Operations/Local.ts`); a worker or a remote machine can bring its own. No hooks, no permission here.
 */
import { Context } from "effect"
import type { Effect, Scope } from "effect"
import type { FileFailed, PathOutside, ProcessFailed, RipgrepMissing } from "./OperationError.ts"

/** A path of the model's, resolved: the file it really means, and how to name it to the model. */
export interface Located {
  /** Absolute real path; the part that does not exist yet is as written. */
  readonly real: string
  /** Relative to the workspace root with `/`; the root itself is `.`. */
  readonly shown: string
  readonly exists: boolean
  /** What is there, when finding it has told already. */
  readonly kind?: FileKind
}

/** What an entry of the file system is; `other` is a device, pipe or socket. */
export type FileKind = "file" | "directory" | "link" | "other"

/** `size` in bytes, `mode` with the permission bits. */
export interface FileInfo {
  readonly kind: FileKind
  readonly size: number
  readonly mode: number
}

/** A file outside the workspace that keeps what was too long for the model. */
export interface Spill {
  readonly path: string
  readonly append: (bytes: Uint8Array) => Effect.Effect<void, FileFailed>
}

/** Files of the workspace. */
export interface Files {
  /**
   * Resolves a path the model gave: a leading `@` is stripped, links of the nearest existing ancestor are followed,
   * and a place outside the workspace is refused.
   */
  readonly locate: (path: string) => Effect.Effect<Located, PathOutside | FileFailed>
  /** What is there now; fails when nothing is. */
  readonly info: (file: Located) => Effect.Effect<FileInfo, FileFailed>
  /**
   * Hands a regular file's bytes to `step` until it returns false; anything else is refused before it is opened. The
   * chunk is only valid during the call.
   */
  readonly scan: (
    file: Located,
    step: (chunk: Uint8Array, info: FileInfo) => boolean
  ) => Effect.Effect<FileInfo, PathOutside | FileFailed>
  /** Entries of a folder, in no order; a link to a folder is a `directory`. */
  readonly list: (
    folder: Located
  ) => Effect.Effect<ReadonlyArray<{ readonly name: string; readonly kind: FileKind }>, PathOutside | FileFailed>
  /**
   * Puts a whole file in place at once, creating its folders: a reader, also after a crash, sees the old bytes or the
   * new ones. It fails where no new file can be made beside the old one. `mode` are
   * the permission bits to keep; without it the system's default for a new file holds.
   */
  readonly replace: (file: Located, bytes: Uint8Array, mode?: number) => Effect.Effect<void, PathOutside | FileFailed>
  /** Takes a regular file away; nothing else is. */
  readonly remove: (file: Located) => Effect.Effect<void, PathOutside | FileFailed>
  /** Runs `self` while no other holder of the same real file runs; first come, first served. */
  readonly exclusively: <A, E, R>(file: Located, self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Opens a new spill file; it is removed when twenty newer ones are there or the `Operations` end. `name` becomes part of its name. */
  readonly spill: (name: string) => Effect.Effect<Spill, FileFailed, Scope.Scope>
}

/** A program to run. Its stdin is empty, its process group its own. */
export interface ProcessRequest {
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** Folder to run in, relative to the workspace root or absolute; the root when absent. */
  readonly cwd?: string
  /** The environment; undefined removes a name. */
  readonly env?: { readonly [name: string]: string | undefined }
  /** Whether `env` is laid over the host's environment (then absent names stay) or is all there is. Default false. */
  readonly extendEnv?: boolean
  /**
   * Whether what the program leaves running is looked for by name, also outside its group, and ended with a call that
   * is interrupted. Default false: then only the group is known.
   */
  readonly track?: boolean
  /** Output as it comes; the process waits when this does. */
  readonly onOutput: (stream: "stdout" | "stderr", chunk: Uint8Array) => Effect.Effect<void>
}

/** A process that outlived the program that started it. */
export interface LeftProcess {
  readonly pid: number
  readonly command: string
  /** It made itself a group of its own. */
  readonly escaped: boolean
  /** It threw its environment away as well: it is out of reach, and goes on when the session has ended. */
  readonly outlives?: true
}

/** How a program ended. */
export interface ProcessExit {
  /** Exit code; 128 plus the number for a death by signal. */
  readonly code: number
  /** It left something running in the background, which ends with the `Operations` at the latest. */
  readonly background: boolean
  /** What that is, as far as it was looked for and the machine can tell. */
  readonly left: ReadonlyArray<LeftProcess>
}

/** Programs of the machine. */
export interface Processes {
  /**
   * Runs a program to its end, whatever it left in the background, which has at most 400 ms to print on. Interruption
   * ends its whole group: TERM, 200 ms, KILL. A program that fails takes the rest of its group with it.
   */
  readonly run: (request: ProcessRequest) => Effect.Effect<ProcessExit, ProcessFailed>
}

/** Search in the workspace. */
export interface Search {
  /** Runs ripgrep with these arguments, found at first use. */
  readonly ripgrep: (
    request: Pick<ProcessRequest, "args" | "cwd" | "onOutput">
  ) => Effect.Effect<ProcessExit, ProcessFailed | RipgrepMissing>
}

/** The port all built-in tools stand on. */
export class Operations extends Context.Service<Operations, {
  readonly files: Files
  readonly processes: Processes
  readonly search: Search
}>()("@nimlet/tools/Operations") {}
