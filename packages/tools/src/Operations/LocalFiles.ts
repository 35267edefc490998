/** Files of this machine, held inside one workspace. */
import { Effect, Exit, FileSystem, Path, Scope } from "effect"
import type { PlatformError } from "effect"
import { FileQueue } from "../FileLocks.ts"
import { FileFailed, PathOutside } from "../OperationError.ts"
import type { FileInfo, FileKind, Files, Located } from "../Operations.ts"
import { makeDrafts } from "./Drafts.ts"

const CHUNK_BYTES = 64 * 1024
const PERMISSION_BITS = 0o7777
/** As many links as Linux follows. */
const MAX_LINKS = 40
/** Beyond so many spill files the oldest goes, so that a long session does not fill the disk. */
const MAX_SPILLS = 20

const kindOf = (type: FileSystem.File.Type): FileKind =>
  type === "File" ? "file" : type === "Directory" ? "directory" : type === "SymbolicLink" ? "link" : "other"

const infoOf = (info: FileSystem.File.Info): FileInfo =>
  ({ kind: kindOf(info.type), size: Number(info.size), mode: info.mode & PERMISSION_BITS })

/** A system error in a few words for the model. */
export const reasonOf = ({ reason }: PlatformError.PlatformError): string => {
  if (reason._tag === "NotFound") return "no such file or directory"
  if (reason._tag === "PermissionDenied") return "permission denied"
  return "cause" in reason && reason.cause instanceof Error ? reason.cause.message : reason.message
}

const whyNotRead: Record<Exclude<FileKind, "file">, string> = {
  directory: "is a directory",
  link: "is a link that leads nowhere",
  other: "is not a regular file (a device, pipe or socket), so it is not opened"
}

/** Files under `root`, a real path. Spill files live in a private temporary folder as long as the scope. */
export const makeLocalFiles = Effect.fnUntraced(function*(
  root: string
): Effect.fn.Return<Files, never, FileSystem.FileSystem | Path.Path | Scope.Scope> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const scope = yield* Effect.scope
  const locks = yield* FileQueue
  const drafts = makeDrafts(fs, path)
  // Windows has no such flag, and a path there is resolved by then all the same.
  const noFollow = path.sep === "/"

  const failed = (shown: string) => (error: PlatformError.PlatformError) => new FileFailed({ path: shown, reason: reasonOf(error) })
  const isInside = (real: string) => real === root || real.startsWith(root.endsWith(path.sep) ? root : root + path.sep)
  const shownOf = (real: string) => real === root ? "." : path.relative(root, real).replaceAll(path.sep, "/")

  /** The real path of the nearest ancestor that exists, and what of the path lies below it. A link that leads nowhere is followed there. */
  const realAncestor = Effect.fnUntraced(function*(written: string, given: string) {
    let absolute = written
    let at = written
    let links = 0
    for (;;) {
      const real = yield* fs.realPath(at).pipe(
        Effect.catchIf((error) => error.reason._tag === "NotFound" && path.dirname(at) !== at, () => Effect.undefined),
        Effect.mapError(failed(given))
      )
      if (real !== undefined) return { real: path.join(real, path.relative(at, absolute)), exists: at === absolute }
      const target = yield* fs.readLink(at).pipe(Effect.orElseSucceed(() => undefined))
      if (target === undefined) {
        at = path.dirname(at)
        continue
      }
      if (++links > MAX_LINKS) return yield* new FileFailed({ path: given, reason: "too many links" })
      absolute = path.resolve(path.dirname(at), target, path.relative(at, absolute))
      at = absolute
    }
  })

  /** The same for a path below the root that meets no link; undefined when there is one. The root is real already. */
  const withoutLinks = Effect.fnUntraced(function*(absolute: string) {
    let at = root
    let kind: FileKind = "directory"
    for (const name of path.relative(root, absolute).split(path.sep)) {
      at = path.join(at, name)
      const found = yield* fs.lstat(at).pipe(
        Effect.map(({ type }) => kindOf(type)),
        Effect.catch((error) => Effect.succeed(error.reason._tag === "NotFound" ? "nothing" as const : "link" as const))
      )
      if (found === "link") return undefined
      if (found === "nothing") return { real: absolute, exists: false }
      kind = found
    }
    return { real: absolute, exists: true, kind }
  })

  const resolve = Effect.fnUntraced(function*(given: string, written: string): Effect.fn.Return<Located, PathOutside | FileFailed> {
    const absolute = path.resolve(root, written)
    const found = (isInside(absolute) ? yield* withoutLinks(absolute) : undefined) ?? (yield* realAncestor(absolute, given))
    if (!isInside(found.real)) return yield* new PathOutside({ path: given })
    return { ...found, shown: shownOf(found.real) }
  })

  const locate: Files["locate"] = Effect.fnUntraced(function*(given) {
    if (!given.startsWith("@")) return yield* resolve(given, given)
    const stripped = yield* resolve(given, given.slice(1))
    if (stripped.exists) return stripped
    // A folder may really be called `@name`.
    const literal = yield* resolve(given, given)
    return literal.exists ? literal : stripped
  })

  /** Linux tells where an open file really is; elsewhere its path is resolved once more. */
  const realPathOf = (file: FileSystem.File, real: string) =>
    "fd" in file && typeof file.fd === "number"
      ? fs.readLink(`/proc/self/fd/${file.fd}`).pipe(Effect.catch(() => fs.realPath(real)))
      : fs.realPath(real)

  const checkOpened = Effect.fnUntraced(function*(file: FileSystem.File, real: string, shown: string) {
    const opened = yield* realPathOf(file, real).pipe(Effect.mapError(failed(shown)))
    if (!isInside(opened)) return yield* new PathOutside({ path: shown })
  })

  const info: Files["info"] = (file) => fs.stat(file.real).pipe(Effect.map(infoOf), Effect.mapError(failed(file.shown)))

  const refuseIrregular = (file: Located, kind: FileKind) =>
    kind === "file" ? Effect.void : Effect.fail(new FileFailed({ path: file.shown, reason: whyNotRead[kind] }))

  const scan: Files["scan"] = (file, step) =>
    Effect.scoped(Effect.gen(function*() {
      // Opening a pipe would wait for a writer, opening a device may act: look first.
      yield* refuseIrregular(file, file.kind ?? (yield* info(file)).kind)
      const opened = yield* fs.open(file.real, { flag: "r", noFollow }).pipe(Effect.mapError(failed(file.shown)))
      const found = yield* opened.stat.pipe(Effect.map(infoOf), Effect.mapError(failed(file.shown)))
      yield* refuseIrregular(file, found.kind)
      yield* checkOpened(opened, file.real, file.shown)
      const buffer = new Uint8Array(Math.min(CHUNK_BYTES, found.size + 1))
      for (;;) {
        const size = yield* opened.read(buffer).pipe(Effect.mapError(failed(file.shown)))
        if (size === 0 || !step(buffer.subarray(0, size), found)) return found
        // A regular file gives less than asked only at its end.
        if (size < buffer.length) return found
      }
    }))

  const list: Files["list"] = Effect.fnUntraced(function*(folder) {
    const entries = yield* fs.readDirectoryEntries(folder.real).pipe(Effect.mapError(failed(folder.shown)))
    // A folder cannot be opened and held, so it is looked at once more.
    if (!isInside(yield* fs.realPath(folder.real).pipe(Effect.mapError(failed(folder.shown))))) return yield* new PathOutside({ path: folder.shown })
    return yield* Effect.forEach(entries, ({ name, type }) => {
      if (type !== "SymbolicLink") return Effect.succeed({ name, kind: kindOf(type) })
      return fs.stat(path.join(folder.real, name)).pipe(
        Effect.map((target) => ({ name, kind: kindOf(target.type) })),
        Effect.orElseSucceed((): { name: string; kind: FileKind } => ({ name, kind: "link" }))
      )
    })
  })

  const write = Effect.fnUntraced(function*(file: Located, temporary: string, bytes: Uint8Array, mode: number | undefined) {
    // What only its owner may read is not readable by others for a moment either.
    const opened = yield* fs.open(temporary, { flag: "wx", noFollow, ...(mode === undefined ? {} : { mode: 0o600 }) }).pipe(
      Effect.mapError((error) => new FileFailed({
        path: file.shown,
        reason: `cannot be written, because no new file can be made in its folder (${reasonOf(error)})`
      }))
    )
    yield* checkOpened(opened, temporary, file.shown)
    yield* opened.writeAll(bytes).pipe(Effect.mapError(failed(file.shown)))
    if (mode !== undefined) yield* fs.chmod(temporary, mode).pipe(Effect.mapError(failed(file.shown)))
    yield* opened.sync.pipe(Effect.mapError(failed(file.shown)))
  }, Effect.scoped)

  const replace: Files["replace"] = Effect.fnUntraced(function*(file, bytes, mode) {
    const folder = path.dirname(file.real)
    if (file.exists) {
      yield* refuseIrregular(file, file.kind ?? (yield* info(file)).kind)
      // A rename would pass over a file's own write protection.
      yield* fs.access(file.real, { writable: true }).pipe(Effect.mapError(failed(file.shown)))
    } else {
      yield* fs.makeDirectory(folder, { recursive: true }).pipe(Effect.mapError(failed(file.shown)))
    }
    yield* drafts.sweep(folder)
    const temporary = yield* drafts.next(folder)
    yield* write(file, temporary, bytes, mode).pipe(
      Effect.andThen(fs.rename(temporary, file.real).pipe(Effect.mapError(failed(file.shown)))),
      Effect.onExit((exit) => Exit.isSuccess(exit) ? Effect.void : Effect.ignore(fs.remove(temporary, { force: true })))
    )
  })

  const remove: Files["remove"] = Effect.fnUntraced(function*(file) {
    yield* refuseIrregular(file, (yield* info(file)).kind)
    yield* fs.remove(file.real).pipe(Effect.mapError(failed(file.shown)))
  })

  const spillFolder = yield* Effect.cached(
    Effect.acquireRelease(
      fs.makeTempDirectory({ prefix: "nimlet-" }),
      (folder) => Effect.ignore(fs.remove(folder, { recursive: true, force: true }))
    ).pipe(Effect.provideService(Scope.Scope, scope))
  )
  const spills: Array<string> = []
  let spillNumber = 0

  const spill: Files["spill"] = Effect.fnUntraced(function*(name) {
    const folder = yield* spillFolder.pipe(Effect.mapError(failed("temporary folder")))
    const file = path.join(folder, `${name}-${++spillNumber}.txt`)
    spills.push(file)
    const oldest = spills.length > MAX_SPILLS ? spills.shift() : undefined
    if (oldest !== undefined) yield* Effect.ignore(fs.remove(oldest, { force: true }))
    const opened = yield* fs.open(file, { flag: "wx", mode: 0o600 }).pipe(Effect.mapError(failed(file)))
    return { path: file, append: (bytes) => opened.writeAll(bytes).pipe(Effect.mapError(failed(file))) }
  })

  return { locate, info, scan, list, replace, remove, exclusively: (file, self) => locks.exclusively(file.real, self), spill }
})
