/** A manifest's `command` → what is really started, on either kind of platform (seed 000, "The manifest"). Pure. */

/** A program with its arguments; with `shell`, `program` is a whole line for the platform's shell and there are no arguments. */
export interface Program {
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly shell: boolean
  /** The file that was meant, for people. */
  readonly named: string
}

/** Where the command stands: `resolve` joins paths as the platform does. */
export interface Place {
  readonly folder: string
  readonly windows: boolean
  readonly resolve: (folder: string, file: string) => string
}

const ending = /\.(cmd|bat|ps1|sh)$/i

/**
 * A word as a batch file gets it. Doubled quotes keep every character between quotes for the shell; a percent sign stands
 * outside of them, so that no pair of them can be the name of a variable.
 */
const forBatch = (word: string): string => `"${word.replaceAll("\"", "\"\"").replaceAll("%", "\"^%\"")}"`

/**
 * A first word with a slash is a file of the extension's folder, any other is looked up on the PATH. Windows starts no
 * scripts: they go through their interpreter.
 */
export const programOf = (command: readonly [string, ...Array<string>], { folder, resolve, windows }: Place): Program => {
  const [word, ...args] = command
  const named = word.includes("/") || (windows && word.includes("\\")) ? resolve(folder, word) : word
  const kind = windows ? ending.exec(named)?.[1]?.toLowerCase() : undefined
  switch (kind) {
    case "cmd":
    case "bat":
      return { named, shell: true, program: [named, ...args].map(forBatch).join(" "), args: [] }
    case "ps1":
      return { named, shell: false, program: "powershell.exe", args: ["-NoProfile", "-ExecutionPolicy", "Bypass", "-File", named, ...args] }
    case "sh":
      return { named, shell: false, program: "sh", args: [named.replaceAll("\\", "/"), ...args] }
    default:
      return { named, shell: false, program: named, args }
  }
}
