/** A manifest's command → the program to start and its arguments, on any platform. Pure (seed 000, "The manifest"). */
import { posix, win32 } from "node:path"

/** What is to be started. */
export interface CommandLine {
  /** A path, or a name that the system finds on PATH. */
  readonly program: string
  readonly args: ReadonlyArray<string>
  /** The arguments are quoted already, and nobody is to quote them again (Windows only). */
  readonly verbatim: boolean
}

/** Where it is to be started: a platform as Node names it, and the manifest's folder. */
export interface CommandPlace {
  readonly platform: string
  readonly folder: string
}

/** Windows starts `.exe` and nothing else by itself; these go through a program, and the rest of the command after them. */
const interpreters: Readonly<Record<string, readonly [string, ...Array<string>]>> = {
  ".ps1": ["powershell.exe", "-NoLogo", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File"],
  ".sh": ["sh"],
  ".py": ["python"],
  ".js": ["node"],
  ".mjs": ["node"],
  ".cjs": ["node"]
}

const direct = (program: string, args: ReadonlyArray<string>): CommandLine => ({ program, args, verbatim: false })

/**
 * One word of a command line for `cmd.exe`. Within quotes only `"` and `%` mean something to it, once it is told to leave
 * `!` alone: a quote is doubled, and a percent sign hides behind a variable that is always empty, so that no name can
 * follow it. Programs that read the line by C's rules need backslashes before a quote doubled too.
 */
const quoteForCmd = (word: string): string =>
  `"${word.replaceAll("%", "%%cd:~,%").replace(/(\\*)"/g, `$1$1""`).replace(/\\+$/, "$&$&")}"`

/** A batch file runs in `cmd.exe`, which takes the outer quotes of the whole away and keeps the inner ones. */
const throughCmd = (script: string, args: ReadonlyArray<string>): CommandLine => ({
  program: "cmd.exe",
  args: ["/e:ON", "/v:OFF", "/d", "/c", `"${[script, ...args].map(quoteForCmd).join(" ")}"`],
  verbatim: true
})

/**
 * What starts `command`: a program named with a slash lies in the manifest's folder, another one on PATH. On Windows
 * scripts go through their interpreter. A string says why it cannot be started.
 */
export const commandLine = (
  [named, ...args]: readonly [string, ...Array<string>],
  { folder, platform }: CommandPlace
): CommandLine | string => {
  const windows = platform === "win32"
  const path = windows ? win32 : posix
  const program = named.includes("/") || (windows && named.includes("\\")) ? path.resolve(folder, named) : named
  if (!windows) return direct(program, args)
  const ending = path.extname(program).toLowerCase()
  if (ending === ".cmd" || ending === ".bat") {
    const broken = [program, ...args].some((word) => /[\0\r\n]/.test(word))
    return broken ? "a batch file takes no argument with a line break" : throughCmd(program, args)
  }
  const interpreter = interpreters[ending]
  if (interpreter === undefined) return direct(program, args)
  const [first, ...before] = interpreter
  return direct(first, [...before, ending === ".sh" ? program.replaceAll("\\", "/") : program, ...args])
}

/** What else `command` may mean when it is not found: on Windows `npx` is often `npx.cmd`. */
export const otherSpelling = (
  [named, ...args]: readonly [string, ...Array<string>],
  platform: string
): readonly [string, ...Array<string>] | undefined =>
  platform === "win32" && win32.extname(named) === "" ? [`${named}.cmd`, ...args] : undefined
