/** What the system said when a program did not start → a sentence that names the path and what helps. Pure. */

/** What is known of the attempt; `exists` and `isFolder` are of `program`. */
export interface Attempt {
  readonly program: string
  readonly workspace: string
  readonly workspaceExists: boolean
  readonly exists: boolean
  readonly isFolder: boolean
  /** As in `ENOENT`. */
  readonly code: string | undefined
  /** What the system said, for the rest. */
  readonly message: string
}

/** Whether a program is named by where it is, and not to be found on PATH. */
export const isPath = (program: string): boolean => /[/\\]/.test(program)

/** The reason, for `extension 'x' failed to start: <reason>`. */
export const whyNotStarted = ({ code, exists, isFolder, message, program, workspace, workspaceExists }: Attempt): string => {
  if (isFolder || program === "." || program === "..") return `${program} is a folder; "command" in extension.json must name a program`
  if (code === "ENOENT") {
    if (!workspaceExists) return `the workspace ${workspace} is not there`
    if (exists) return `cannot run ${program}: the interpreter that its first line names is not there`
    return isPath(program)
      ? `cannot find ${program}; check "command" in extension.json`
      : `cannot find ${program} on PATH; install it, or name it with its path in extension.json`
  }
  if (code === "EACCES" || code === "EPERM") {
    return isPath(program)
      ? `${program} is not executable; try chmod +x ${program}`
      : `what goes by the name ${program} on PATH is not executable; name the program with its path in extension.json`
  }
  return `cannot run ${program}: ${message}`
}
