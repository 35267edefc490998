/** Keys of providers in `~/.nimlet/auth.json`, as a person puts them there and takes them away. */
import { Effect, type FileSystem, Option, type Path } from "effect"
import { type FileUnwritable, replaceFile } from "@nimlet/agent"
import { type AuthFileInvalid, findCredential, presets, readAuthFile } from "@nimlet/provider"

type Needs = FileSystem.FileSystem | Path.Path
type Failure = AuthFileInvalid | FileUnwritable

const write = (file: string, entries: Readonly<Record<string, unknown>>) => replaceFile(file, `${JSON.stringify(entries, null, 2)}\n`)

/** Keeps a key; only its owner can read the file then. A file that is no good is left as it is, and fails. */
export const saveKey = Effect.fnUntraced(function*(home: string, provider: string, key: string): Effect.fn.Return<void, Failure, Needs> {
  const { entries, path } = yield* readAuthFile(home)
  yield* write(path, { ...entries, [provider]: { type: "api_key", key } })
})

/** Forgets a key; false when there was none. */
export const dropKey = Effect.fnUntraced(function*(home: string, provider: string): Effect.fn.Return<boolean, Failure, Needs> {
  const { entries, path } = yield* readAuthFile(home)
  if (!Object.hasOwn(entries, provider)) return false
  const { [provider]: _, ...others } = entries
  yield* write(path, others)
  return true
})

/** Where each provider that comes with us has its key from; none where it has none, and nothing of those that need none. */
export const keySources = Effect.fnUntraced(function*(
  home: string,
  environment: Readonly<Record<string, string>>
): Effect.fn.Return<ReadonlyArray<{ readonly provider: string; readonly source: string | undefined; readonly variables: ReadonlyArray<string> }>, AuthFileInvalid, FileSystem.FileSystem> {
  const file = yield* readAuthFile(home)
  const keyed = Object.entries(presets).filter(([, { variables }]) => variables.length > 0)
  return yield* Effect.forEach(keyed, ([provider, { variables }]) =>
    Effect.map(findCredential({ provider, variables, file, environment }), ({ found }) => ({ provider, source: Option.getOrUndefined(Option.map(found, ({ source }) => source)), variables })))
})
