import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { execFileSync } from "node:child_process"
import { symlinkSync } from "node:fs"
import { readTrust, recordOf, writeTrust } from "../src/Trust/TrustStore.ts"

describe("the file of trust", () => {
  it.live("that is a pipe or a device trusts nothing, is not waited for, and is not written over", () =>
    Effect.gen(function*() {
      const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
      execFileSync("mkfifo", [`${folder}/pipe`])
      symlinkSync("/dev/zero", `${folder}/zero`)
      for (const name of ["pipe", "zero"]) {
        const { faults, records } = yield* readTrust(`${folder}/${name}`)
        assert.deepStrictEqual([records, faults.length], [{}, 1])
        assert.include(faults[0], `${folder}/${name} is no regular file`)
        assert.include(String(yield* Effect.flip(writeTrust(`${folder}/${name}`, "/p", recordOf(true, [], undefined)))), "not understood")
      }
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)), 10_000)

  it.effect("that is not understood is told with the project and field that are wrong; what is understood holds", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* fs.makeTempDirectoryScoped()}/trust.json`
      const read = (text: string) => Effect.andThen(fs.writeFileString(file, text), readTrust(file))
      assert.deepStrictEqual(yield* readTrust(file), { records: {}, faults: [] })
      for (const text of ["", "{", "[]", `{"projects":[]}`]) {
        const { faults, records } = yield* read(text)
        assert.deepStrictEqual(records, {})
        assert.match(faults.join("\n"), /trust\.json is no JSON object with an object `projects`.*; mend it/)
      }
      const { faults, records } = yield* read(`{"projects":{"/a":{"trusted":"yes","files":{}},"/b":{"trusted":true,"files":{}}}}`)
      assert.deepStrictEqual(records, { "/b": { trusted: true, files: {} } })
      assert.match(faults.join("\n"), /^[^\n]*projects\["\/a"\] [^\n]*trusted[^\n]*; mend it[^\n]*$/)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
})
