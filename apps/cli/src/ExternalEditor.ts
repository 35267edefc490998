/** The person's own editor on a text: a file, the terminal handed over and back, the file read again. */
import { Effect, FileSystem, Path, Schema } from "effect"
import { ChildProcess } from "effect/process"

/** The editor did not give the text back; `reason` is what the extension reads. */
export class EditorFailed extends Schema.TaggedError<EditorFailed>()("EditorFailed", { reason: Schema.String }) {
  override get message(): string {
    return this.reason
  }
}

/** The program of a command line, for people: `vi` of `/usr/bin/vi -n`. */
export const programOf = (command: string): string => command.trim().split(/\s+/)[0]?.split("/").at(-1) ?? command

/** A name for the file that tells what it is, whatever the title holds. */
const fileName = (title: string): string => `${title.replaceAll(/[^\w-]+/g, "-").replaceAll(/^-+|-+$/g, "").slice(0, 40) || "text"}.md`

/**
 * Opens `text` with the command line `editor`, as a shell would, and gives what it is when the editor has ended. The file
 * is the person's alone and gone afterwards; interrupting ends the editor. Fails when the editor does.
 */
export const editText = Effect.fnUntraced(function*(options: {
  readonly editor: string
  readonly title: string
  readonly text: string
  readonly environment: Readonly<Record<string, string>>
  readonly platform: string
  /** Leaves the terminal to a program. */
  readonly lend: <A, E, R>(program: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}) {
  const { editor, environment, lend, platform, text, title } = options
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const failed = (reason: string) => new EditorFailed({ reason })
  const unwritable = Effect.mapError(() => failed("no file could be made for the editor"))
  const folder = yield* unwritable(fs.makeTempDirectoryScoped({ prefix: "nimlet-edit-" }))
  const file = path.join(folder, fileName(title))
  yield* unwritable(fs.writeFileString(file, text, { mode: 0o600 }))
  const [program, args] = platform === "win32"
    ? [editor.trim().split(/\s+/)[0] ?? editor, [...editor.trim().split(/\s+/).slice(1), file]]
    : ["/bin/sh", ["-c", `${editor} "$1"`, "sh", file]]
  const shared = { stdin: "inherit", stdout: "inherit", stderr: "inherit" } as const
  // In our own process group, or the terminal would stop it at its first read.
  const run = Effect.scoped(Effect.flatMap(
    ChildProcess.make(program, args, { ...shared, env: environment, detached: false, forceKillAfter: "500 millis" }),
    ({ exitCode }) => exitCode
  ))
  const code = yield* lend(run).pipe(Effect.mapError(() => failed(`${programOf(editor)} could not be run to its end`)))
  if (code !== 0) return yield* failed(`${programOf(editor)} exited with code ${code}`)
  const edited = yield* fs.readFileString(file).pipe(Effect.mapError(() => failed(`${programOf(editor)} left no file`)))
  // Editors end the last line where there was no end.
  return text.endsWith("\n") ? edited : edited.replace(/\r?\n$/, "")
}, Effect.scoped)
