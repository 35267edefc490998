/** Keys of providers: given outright, from `auth.json`, or from the environment. */
import { Effect, FileSystem, Option, Predicate, Redacted, Result } from "effect"
import { jsonFault } from "./JsonFault.ts"
import { AuthFileInvalid } from "./ProviderError.ts"

/** The environment, handed in: this package never looks at the process. */
export type Environment = { readonly [name: string]: string | undefined }

/** A key, and where it came from: `flag`, `auth.json`, or the name of an environment variable. */
export interface Credential {
  readonly key: Redacted.Redacted
  readonly source: string
}

/** What was found, and what was looked for. */
export interface CredentialSearch {
  readonly found: Option.Option<Credential>
  /** The variables that would have given a key. */
  readonly variables: ReadonlyArray<string>
  /** The type of its entry in `auth.json`, where that is another than `api_key`. */
  readonly entryType?: string
}

/** `auth.json`, read. */
export interface AuthFile {
  readonly path: string
  readonly entries: { readonly [provider: string]: unknown }
  /** Others than the owner may read it (its mode is not 0600). Nothing is refused for that; it should be said. */
  readonly exposed: boolean
}

/**
 * Reads `<home>/.nimlet/auth.json`, a JSON object from provider to `{ "type": "api_key", "key": "…" }`. No file is an
 * empty one. Fails with `AuthFileInvalid`, naming the file, when it cannot be read or is no JSON object.
 */
export const readAuthFile = Effect.fnUntraced(function*(home: string): Effect.fn.Return<AuthFile, AuthFileInvalid, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const path = `${home}/.nimlet/auth.json`
  const invalid = (problem: string) => new AuthFileInvalid({ file: path, problem })
  const text = yield* fs.readFileString(path).pipe(
    Effect.asSome,
    Effect.catch((error) =>
      error.reason._tag === "NotFound" ? Effect.succeed(Option.none<string>()) : Effect.fail(invalid(error.reason._tag === "InvalidData" ? "is no regular file; take it away" : `cannot be read: ${error.reason._tag}`))
    )
  )
  if (Option.isNone(text)) return { path, entries: {}, exposed: false }
  // The parser's own message quotes the text, and the text holds keys.
  const parsed = Result.try(() => JSON.parse(text.value) as unknown)
  if (Result.isFailure(parsed)) {
    const { column, line } = jsonFault(text.value)
    return yield* invalid(`is no valid JSON at line ${line}, column ${column}`)
  }
  if (!Predicate.isObject(parsed.success) || Array.isArray(parsed.success)) return yield* invalid("is no JSON object")
  const mode = yield* fs.stat(path).pipe(Effect.map((info) => info.mode), Effect.orElseSucceed(() => 0))
  return { path, entries: parsed.success as AuthFile["entries"], exposed: (mode & 0o077) !== 0 }
})

const variable = (environment: Environment, name: string): Option.Option<Credential> => {
  const value = environment[name]?.trim()
  return value === undefined || value === "" ? Option.none() : Option.some({ key: Redacted.make(value), source: name })
}

/**
 * The key of a provider. `flag` wins; then an entry of `auth.json` (with any `type`, the environment is not asked; a key
 * `"$NAME"` is read from variable `NAME`); then the first of `variables` that is set. Fails with `AuthFileInvalid` when
 * the entry is of the wrong shape.
 */
export const findCredential = (options: {
  readonly provider: string
  readonly variables: ReadonlyArray<string>
  readonly flag?: Redacted.Redacted | undefined
  readonly file: AuthFile
  readonly environment: Environment
}): Effect.Effect<CredentialSearch, AuthFileInvalid> => {
  const { environment, file, variables } = options
  if (options.flag !== undefined) {
    return Effect.succeed({ found: Option.some({ key: options.flag, source: "flag" }), variables })
  }
  const entry = Object.hasOwn(file.entries, options.provider) ? file.entries[options.provider] : undefined
  if (entry === undefined) {
    return Effect.succeed({ found: Option.firstSomeOf(variables.map((name) => variable(environment, name))), variables })
  }
  if (!Predicate.isObject(entry) || !("type" in entry)) {
    return Effect.fail(new AuthFileInvalid({ file: file.path, problem: `the entry '${options.provider}' is not { "type": "api_key", "key": … }` }))
  }
  if (entry.type !== "api_key") {
    return Effect.succeed({ found: Option.none(), variables: [], entryType: typeof entry.type === "string" ? entry.type.slice(0, 40) : typeof entry.type })
  }
  const key = "key" in entry ? entry.key : undefined
  if (typeof key !== "string" || key.trim() === "") {
    return Effect.fail(new AuthFileInvalid({ file: file.path, problem: `the entry '${options.provider}' has no key` }))
  }
  if (!key.startsWith("$")) return Effect.succeed({ found: Option.some({ key: Redacted.make(key.trim()), source: "auth.json" }), variables })
  const name = key.slice(1)
  return Effect.succeed({ found: variable(environment, name), variables: [name] })
}
