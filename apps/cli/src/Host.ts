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
  /** Absolute path of this program, for extensions that start us. */
  readonly bin: string
  readonly pid: number
  /** Whether a process of this machine lives. */
  readonly isAlive: (pid: number) => boolean
  /** Sends requests to models. */
  readonly fetch: typeof globalThis.fetch
}
