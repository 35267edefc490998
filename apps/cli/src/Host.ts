/** What only the process can do with its terminal. Where there is none, nothing happens. */
export interface TerminalControl {
  /** Keys arrive one by one and are not shown, until it is called with false. */
  readonly hideKeys: (hide: boolean) => void
  /** What Ctrl-C does while keys are shown. */
  readonly interrupt: () => void
  /** When nobody listens to standard input any more: takes nothing from it either, so that another program can. */
  readonly stopReading: () => Promise<void>
  /** Goes to the background, and is done when it has come back to the foreground. */
  readonly suspend: () => Promise<void>
}

/** What the process was given by whoever started it, read once in `main.ts` and nowhere else. */
export interface Host {
  /** Words after the program's name. */
  readonly argv: ReadonlyArray<string>
  readonly environment: Readonly<Record<string, string>>
  /** The user's home folder, absolute. */
  readonly home: string
  /** The folder we were started in; its real path is the workspace. */
  readonly cwd: string
  readonly platform: string
  /** Node's version, without a `v`. */
  readonly node: string
  /** Absolute path of this program, for extensions that start us. */
  readonly bin: string
  readonly terminal: TerminalControl
  readonly pid: number
  /** Settles when we were told to end, by a signal. */
  readonly ending: Promise<void>
  /** Texts for standard output that are still owed there if the process has to end at once. */
  readonly lastWords: Set<string>
  /** What was written and not taken is not waited for any more when we end. */
  readonly giveUpReader: () => void
  /** Whether a process of this machine lives. */
  readonly isAlive: (pid: number) => boolean
  /** Sends requests to models. */
  readonly fetch: typeof globalThis.fetch
}

/** Whether text for people may have colours. */
export const wantsColours = ({ environment }: Host): boolean => (environment["NO_COLOR"] ?? "") === "" && environment["TERM"] !== "dumb"

/** The command line of the person's editor, when they have said which. */
export const editorOf = ({ environment }: Host): string | undefined =>
  [environment["VISUAL"], environment["EDITOR"]].find((command) => command !== undefined && command.trim() !== "")
