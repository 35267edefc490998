/** Files of the person's own that are put in place whole: a reader, also after a crash, sees the old text or the new one. */
import { Effect, FileSystem, Path, Random, Schema } from "effect"

/** A file that could not be written; it is as it was. */
export class FileUnwritable extends Schema.TaggedError<FileUnwritable>()("FileUnwritable", { file: Schema.String, why: Schema.String }) {
  override get message(): string {
    return `${this.file} could not be written: ${this.why}`
  }
}

/** Puts `text` into `file`, which nobody but its owner can read then; folders are made. Fails with `FileUnwritable`. */
export const replaceFile = Effect.fnUntraced(function*(
  file: string,
  text: string
): Effect.fn.Return<void, FileUnwritable, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const draft = `${file}.${(yield* Random.nextIntBetween(0, 0xffffffff)).toString(16)}`
  yield* fs.makeDirectory(path.dirname(file), { recursive: true }).pipe(
    Effect.andThen(fs.writeFileString(draft, text, { flag: "wx", mode: 0o600 })),
    Effect.andThen(fs.rename(draft, file)),
    Effect.onError(() => Effect.ignore(fs.remove(draft))),
    Effect.mapError((error) => new FileUnwritable({ file, why: error.message }))
  )
})
