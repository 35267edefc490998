/** A command of the shell that the person ran, and what came of it, as the model is told and as it is known again. Pure. */

/** What was run, and what came of it; `code` is a number, or says what ended it. */
export interface ShellAccount {
  readonly command: string
  readonly output: string
  readonly code: string
}

/** What the model is told. Further lines of a command stand behind a prompt of their own. */
export const accountText = ({ code, command, output }: ShellAccount): string =>
  `$ ${command.replaceAll("\n", "\n> ")}\n${output}${output.endsWith("\n") || output === "" ? "" : "\n"}(exit ${code})`

const shape = /^\$ ([^\n]+(?:\n> [^\n]*)*)\n([\s\S]*\n)?\(exit ([^\n()]+)\)$/

/** The account that a text is, if it is one. */
export const accountIn = (text: string): ShellAccount | undefined => {
  const [, command, output = "", code] = shape.exec(text) ?? []
  return command === undefined || code === undefined ? undefined : { command: command.replaceAll("\n> ", "\n"), output, code }
}

/** What was typed, where a text is an account of a command; else the text. */
export const typedFor = (text: string): string => {
  const account = accountIn(text)
  return account === undefined ? text : `!${account.command}`
}
