import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Result, Stream } from "effect"
import { fileURLToPath } from "node:url"
import type { Launch } from "../src/index.ts"
import { openChildProcess } from "../src/Transport/ChildProcess.ts"
import { openWorkerThread } from "../src/Transport/WorkerThread.ts"
import { openMemory, type Script } from "../src/Transport/Memory.ts"
import { type ContractPeer, transportContract } from "./transportContract.ts"

const fixtures = fileURLToPath(new URL("fixtures", import.meta.url))
const launch = (folder: string, command: readonly [string, ...Array<string>], maxLineBytes?: number): Launch => ({
  extension: "x",
  runsAs: "process",
  command,
  folder,
  workspace: folder,
  environment: { PATH: process.env.PATH ?? "" },
  logs: `${folder}/logs`,
  maxLineBytes
})
const temp = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
const child = (command: ReadonlyArray<string>, maxLineBytes?: number) =>
  Effect.flatMap(temp, (folder) =>
    openChildProcess(launch(folder, [process.execPath, ...command], maxLineBytes))).pipe(Effect.provide(NodeServices.layer))

const scripts: Record<ContractPeer, Script> = {
  echo: (peer) => Effect.forever(Effect.flatMap(peer.receiveLine, peer.send)),
  exits: () => Effect.fail("exit"),
  deaf: () => Effect.never,
  counts: (peer) => Effect.forEach(Array.from({ length: 1_000 }, (_, n) => n), (n) => peer.send({ n }), { discard: true })
}

transportContract("child process", (peer, maxLineBytes) => child([`${fixtures}/contract.mjs`, peer], maxLineBytes))
transportContract("memory", (peer, maxLineBytes) =>
  openMemory(scripts[peer], launch("/", ["x"], maxLineBytes)))

transportContract("worker thread", (peer, maxLineBytes) =>
  Effect.flatMap(temp, (folder) =>
    openWorkerThread(launch(folder, ["x"], maxLineBytes), {
      entry: new URL("fixtures/contract-worker.mjs", import.meta.url),
      data: { peer },
      heapMegabytes: 64
    })).pipe(Effect.provide(NodeServices.layer)))

describe("child process", () => {
  const inbound = (command: ReadonlyArray<string>) =>
    Effect.gen(function*() {
      const transport = yield* child(command)
      const lines = yield* Stream.runCollect(transport.inbound)
      return lines.map((line) => Result.isSuccess(line) ? line.success : line.failure._tag)
    })

  it.live("reads awkward bytes", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* inbound([`${fixtures}/bytes.mjs`]), [
        "{\"n\":1}",
        "{\"n\":2}",
        "{\"n\":3}",
        "{\"n\":\"😀\"}",
        "{\"n\":\"last\"}"
      ])
    }))

  it.live("drops a line of 40 MB and goes on", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* inbound([`${fixtures}/long.mjs`, String(40 << 20)]), ["LineTooLong", "{\"n\":1}"])
    }))

  it.live("a missing program and one that may not run fail the start with what to do", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* temp
      yield* fs.writeFileString(`${folder}/ext.py`, "#!/bin/sh\n")
      const missing = yield* Effect.flip(openChildProcess(launch(folder, ["no-such-program-here"])))
      assert.strictEqual(missing.reason, "cannot find no-such-program-here (or the workspace)")
      const denied = yield* Effect.flip(openChildProcess(launch(folder, ["./ext.py"])))
      assert.strictEqual(denied.reason, `${folder}/ext.py is not executable; try chmod +x`)
    }).pipe(Effect.provide(NodeServices.layer)))
})
