/**
 * What was allowed in a project for every session: `.nimlet/permissions.json`, an object with the list `allow`. It counts
 * only while the project is trusted and the file has the very bytes that were.
 */
import { Effect, FileSystem, Path, Result, Schema } from "effect"
import * as Digest from "effect/crypto/Digest"
import type { ProjectGrants } from "./Permissions.ts"
import { FileUnwritable, replaceFile } from "./PrivateFile.ts"
import type { Trust } from "./Trust.ts"

const name = ".nimlet/permissions.json"

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.StructWithRest(
  Schema.Struct({ allow: Schema.optionalKey(Schema.Array(Schema.String)) }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)))

/** The grants of the project in `workspace`. */
export const makeProjectGrants = (workspace: string, trust: Trust): Effect.Effect<ProjectGrants, never, FileSystem.FileSystem | Path.Path> =>
  Effect.map(Effect.context<FileSystem.FileSystem | Path.Path>(), (context) => {
    const content = Effect.gen(function*() {
      const { files, trusted } = trust.current()
      const known = files.find(({ path }) => path === name)
      if (!trusted || known === undefined) return {}
      // What is no regular file has no hash, and is not opened.
      if (known.sha256 === "") return undefined
      const fs = yield* FileSystem.FileSystem
      const bytes = yield* fs.readFile((yield* Path.Path).join(workspace, name))
      if ((yield* (yield* Digest.Digest).digestHex(Digest.sha256, bytes)) !== known.sha256) return undefined
      const decoded = decode(new TextDecoder().decode(bytes))
      return Result.isSuccess(decoded) ? decoded.success : undefined
    }).pipe(Effect.orElseSucceed(() => undefined), Effect.provide(Digest.layerWebCrypto), Effect.provideContext(context))

    const remember = Effect.fnUntraced(function*(keys: ReadonlyArray<string>) {
      const file = (yield* Path.Path).join(workspace, name)
      const present = yield* content
      if (present === undefined) return yield* new FileUnwritable({ file, why: "what stands there is not understood, or was changed meanwhile" })
      const allow = [...new Set([...present.allow ?? [], ...keys])].toSorted()
      yield* replaceFile(file, `${JSON.stringify({ ...present, allow }, undefined, 2)}\n`)
      yield* trust.wrote(name)
    }, Effect.provideContext(context))

    return {
      allowed: Effect.map(content, (present) => present?.allow ?? []),
      remember: Effect.sync(() => trust.current().trusted ? remember : undefined)
    }
  })
