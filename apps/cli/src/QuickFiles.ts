/**
 * Short looks at files made at once. Node's way to them is through a pool of threads and back, which takes many times as
 * long as what the system does: for a call that reads a small file that is most of its time. What could take long stays
 * with the platform, and so does every failure: whatever is refused here is asked for once more there, and told by it.
 */
import * as Fs from "node:fs"
import { ByteSize, Effect, FileSystem, Option, PlatformError } from "effect"

/** The most that is read or written at once, in bytes; as much as a disk gives in a moment. */
const MOST = 64 * 1024

/** Tries `look`; where it throws, `platform` is asked. */
const atOnce = <A>(look: () => A, platform: Effect.Effect<A, PlatformError.PlatformError>): Effect.Effect<A, PlatformError.PlatformError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(look())
    } catch {
      return platform
    }
  })

const typeOf = (stats: Fs.BigIntStats): FileSystem.File.Type => {
  if (stats.isFile()) return "File"
  if (stats.isDirectory()) return "Directory"
  if (stats.isSymbolicLink()) return "SymbolicLink"
  if (stats.isBlockDevice()) return "BlockDevice"
  if (stats.isCharacterDevice()) return "CharacterDevice"
  if (stats.isFIFO()) return "FIFO"
  return stats.isSocket() ? "Socket" : "Unknown"
}

/** What the system knows of a file, made from its answer when it is asked for. */
class Info implements FileSystem.File.Info {
  readonly #stats: Fs.BigIntStats
  readonly type: FileSystem.File.Type

  constructor(stats: Fs.BigIntStats) {
    this.#stats = stats
    this.type = typeOf(stats)
  }

  get mtime() {
    return Option.some(this.#stats.mtime)
  }

  get atime() {
    return Option.some(this.#stats.atime)
  }

  get birthtime() {
    return Option.some(this.#stats.birthtime)
  }

  get dev() {
    return BigInt.asUintN(64, this.#stats.dev)
  }

  get rdev() {
    return Option.some(BigInt.asUintN(64, this.#stats.rdev))
  }

  get ino() {
    return Option.some(BigInt.asUintN(64, this.#stats.ino))
  }

  get mode() {
    return Number(this.#stats.mode)
  }

  get nlink() {
    return Option.some(BigInt.asUintN(64, this.#stats.nlink))
  }

  get uid() {
    return Option.some(Number(this.#stats.uid))
  }

  get gid() {
    return Option.some(Number(this.#stats.gid))
  }

  get size() {
    return ByteSize.bytes(this.#stats.size)
  }

  get blksize() {
    return Option.some(ByteSize.bytes(this.#stats.blksize))
  }

  get blocks() {
    return Option.some(this.#stats.blocks)
  }
}

const refused = (method: string, description: string) => Effect.fail(PlatformError.badArgument({ module: "FileSystem", method, description }))

/** A regular file, opened for reading. `fd` is its number, as the platform's files have it. A read gives `MOST` bytes at most. */
class QuickFile implements FileSystem.File {
  readonly [FileSystem.FileTypeId]: typeof FileSystem.FileTypeId = FileSystem.FileTypeId
  readonly fd: number
  #position = 0n

  constructor(fd: number) {
    this.fd = fd
  }

  get stat() {
    return this.#attempt("stat", () => new Info(Fs.fstatSync(this.fd, { bigint: true })))
  }

  get sync() {
    return Effect.void
  }

  seek(offset: bigint, from: FileSystem.SeekMode) {
    const position = from === "start" ? offset : this.#position + offset
    if (position < 0n) return refused("seek", "Cannot seek before the start of the file")
    return Effect.sync(() => (this.#position = position))
  }

  read(buffer: Uint8Array, options?: FileSystem.File.ReadOptions) {
    const explicit = options?.position
    if (explicit !== undefined && explicit < 0n) return refused("read", "Cannot read before the start of the file")
    return this.#attempt("read", () => {
      const size = Fs.readSync(this.fd, buffer, 0, Math.min(buffer.length, MOST), explicit ?? this.#position)
      if (explicit === undefined) this.#position += BigInt(size)
      return size
    })
  }

  readAlloc(size: number, options?: FileSystem.File.ReadOptions) {
    return Effect.suspend(() => {
      const buffer = new Uint8Array(Math.min(size, MOST))
      return Effect.map(this.read(buffer, options), (got) => got === 0 ? Option.none() : Option.some(buffer.subarray(0, got)))
    })
  }

  truncate() {
    return refused("truncate", "The file is open for reading")
  }

  write() {
    return refused("write", "The file is open for reading")
  }

  writeAll() {
    return refused("writeAll", "The file is open for reading")
  }

  #attempt<A>(method: string, look: () => A): Effect.Effect<A, PlatformError.PlatformError> {
    return Effect.try({
      try: look,
      catch: (cause) =>
        PlatformError.systemError({ _tag: "Unknown", module: "FileSystem", method, pathOrDescriptor: this.fd, cause })
    })
  }
}

/** Opens a regular file and nothing else, and waits for no writer of a pipe; undefined when it cannot. */
const openRegular = (path: string): number | undefined => {
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = Fs.constants
  try {
    const fd = Fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    if (Fs.fstatSync(fd).isFile()) return fd
    Fs.closeSync(fd)
  } catch {
    // The platform is asked next, and tells what is wrong.
  }
  return undefined
}

/** Reads only what ends by itself: a pipe waits for its writer, a device may have no end. What a person names in `/dev` (`<(…)` does) is meant. */
const ending = <A, R>(stat: FileSystem.FileSystem["stat"], path: string, read: Effect.Effect<A, PlatformError.PlatformError, R>): Effect.Effect<A, PlatformError.PlatformError, R> =>
  path.startsWith("/dev/") ? read : Effect.flatMap(Effect.match(stat(path), { onFailure: () => undefined, onSuccess: ({ type }) => type }), (type) =>
    type === undefined || type === "File" || type === "Directory"
      ? read
      : Effect.fail(PlatformError.systemError({ _tag: "InvalidData", module: "FileSystem", method: "open", description: "no regular file", pathOrDescriptor: path })))

/** A file that is appended to, looked at and each small piece written at once. */
const appending = (file: FileSystem.File): FileSystem.File => {
  if (!("fd" in file) || typeof file.fd !== "number") return file
  const { fd } = file
  const writeAll = (bytes: Uint8Array) =>
    Effect.suspend(() => {
      if (bytes.length > MOST) return file.writeAll(bytes)
      let written = 0
      try {
        written = Fs.writeSync(fd, bytes)
      } catch {
        // The platform meets the same and tells it.
      }
      return file.writeAll(bytes.subarray(written))
    })
  const stat = atOnce(() => new Info(Fs.fstatSync(fd, { bigint: true })), file.stat)
  return Object.create(file, { stat: { value: stat }, writeAll: { value: writeAll } })
}

/** The platform's files with the short looks made at once: kind, links and real name of a path, opening and reading to read, appending. Nothing but regular files is read. */
export const quickFiles = (platform: FileSystem.FileSystem): FileSystem.FileSystem => {
  const stat: typeof platform.stat = (path) => atOnce(() => new Info(Fs.statSync(path, { bigint: true })), platform.stat(path))
  return {
    ...platform,
    lstat: (path) => atOnce(() => new Info(Fs.lstatSync(path, { bigint: true })), platform.lstat(path)),
    stat,
    readFile: (path) => ending(stat, path, platform.readFile(path)),
    readFileString: (path, encoding) => ending(stat, path, platform.readFileString(path, encoding)),
    realPath: (path) => atOnce(() => Fs.realpathSync.native(path), platform.realPath(path)),
    readLink: (path) => atOnce(() => Fs.readlinkSync(path), platform.readLink(path)),
    open: (path, options) => {
      const { flag = "r", noFollow = false } = options ?? {}
      if (flag.startsWith("a")) return Effect.map(platform.open(path, options), appending)
      // Windows has neither flag.
      if (flag !== "r") return platform.open(path, options)
      if (!noFollow || Fs.constants.O_NOFOLLOW === undefined) return ending(stat, path, platform.open(path, options))
      const opened = Effect.acquireRelease(
        Effect.sync(() => openRegular(path)),
        (fd) => Effect.sync(() => fd === undefined ? undefined : Fs.closeSync(fd))
      )
      return Effect.flatMap(opened, (fd) => fd === undefined ? ending(stat, path, platform.open(path, options)) : Effect.succeed(new QuickFile(fd)))
    }
  }
}
