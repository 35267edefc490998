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
        assert.deepStrictEqual(yield* readTrust(`${folder}/${name}`), {})
        assert.include(String(yield* Effect.flip(writeTrust(`${folder}/${name}`, "/p", recordOf(true, [], undefined)))), "not understood")
      }
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)), 10_000)
})
