/** The environment of an extension process: hygiene against accidents, not secrecy. */

/** What the child learns beside what it inherits; absent fields give no variable. */
export interface SessionVariables {
  readonly sessionId: string
  readonly trusted: boolean
  readonly file?: string | undefined
  readonly provider?: string | undefined
  readonly model?: string | undefined
  readonly reasoningLevel?: string | undefined
  readonly bin?: string | undefined
}

/** The two prefixes published extensions read. */
const prefixes = ["NIMLET", "NIMINAL"]

/** The inherited variables without the withheld ones (but those `allowed`), and the session's, which win. */
export const environmentOf = (
  inherited: Readonly<Record<string, string>>,
  withheld: ReadonlyArray<string>,
  allowed: ReadonlyArray<string>,
  session: SessionVariables
): Record<string, string> => {
  const hidden = new Set(withheld.filter((name) => !allowed.includes(name)))
  const told: ReadonlyArray<readonly [string, string | undefined]> = [
    ["SESSION_ID", session.sessionId],
    ["SESSION_FILE", session.file],
    ["PROVIDER", session.provider],
    ["MODEL", session.model],
    ["REASONING_LEVEL", session.reasoningLevel],
    ["BIN", session.bin],
    ["TRUSTED", session.trusted ? "1" : "0"]
  ]
  return Object.fromEntries([
    ...Object.entries(inherited).filter(([name]) => !hidden.has(name)),
    ...prefixes.flatMap((prefix) =>
      told.flatMap(([name, value]) => value === undefined ? [] : [[`${prefix}_${name}`, value] as const]))
  ])
}
