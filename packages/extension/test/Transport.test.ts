import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, FileSystem, Option, Result, Stream } from "effect"
import { fileURLToPath } from "node:url"
import type { Launch } from "../src/index.ts"
import { openChildProcess } from "../src/Transport/ChildProcess.ts"
import { openWorkerThread } from "../src/Transport/WorkerThread.ts"
import { openMemory, type Script } from "../src/Transport/Memory.ts"
import { alive } from "./kit.ts"
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
  pours: (peer) =>
    Effect.forever(Effect.flatMap(Clock.currentTimeMillis, (at) => peer.send({ at, fill: "x".repeat(1_000) }))),
  long: (peer) => Effect.andThen(peer.send("x".repeat(17 << 20)), peer.send({ n: 1 })),
  shuts: (peer) => Effect.asVoid(peer.receiveLine),
  // Lines come whole here.
  stutters: (peer) => Effect.forever(Effect.flatMap(peer.receiveLine, peer.send)),
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

  it.live("hears at once that a program which lives on has closed its input, whether or not it had read all", () =>
    Effect.gen(function*() {
      const node = "const fs = require('node:fs'); for (let n = 0; n < 4; n++) fs.readSync(0, Buffer.alloc(1)); fs.closeSync(0); setInterval(() => {}, 1000)"
      const programs = [["sh", "-c", "read line; exec 0<&-; sleep 60"], [process.execPath, "-e", node]] as const
      for (const command of programs) {
        for (const more of [[], ["{}"]]) {
          const transport = yield* openChildProcess(launch(yield* temp, [...command]))
          const from = yield* Clock.currentTimeMillis
          for (const line of ["abc", ...more]) assert.strictEqual(yield* transport.send(line), "accepted")
          assert.strictEqual(yield* transport.closed, "closed its input")
          assert.isBelow((yield* Clock.currentTimeMillis) - from, 1_000)
          assert.strictEqual(yield* transport.send("{}"), "closed")
        }
      }
    }).pipe(Effect.provide(NodeServices.layer)), 10_000)

  it.live("one that closes its input after ours has ended may take its time", () =>
    Effect.gen(function*() {
      const transport = yield* openChildProcess(
        launch(yield* temp, ["sh", "-c", "while read line; do :; done; exec 0<&-; sleep 0.3; echo done; exit 3"])
      )
      yield* transport.send("{}")
      yield* transport.endInput
      const heard = yield* Effect.forkChild(Stream.runCollect(transport.inbound))
      assert.strictEqual(yield* transport.closed, "exited with code 3")
      assert.deepStrictEqual(yield* Fiber.join(heard), [Result.succeed("done")])
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("what a program writes to its input is nobody's, and it goes on", () =>
    Effect.gen(function*() {
      const transport = yield* openChildProcess(launch(yield* temp, ["sh", "-c", "echo stray >&0; read line; read again; echo \"$line $again\""]))
      yield* transport.send("a")
      yield* Effect.sleep(100)
      assert.strictEqual(yield* transport.send("b"), "accepted")
      assert.deepStrictEqual(yield* Stream.runCollect(transport.inbound), [Result.succeed("a b")])
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("says by which signal it was ended", () =>
    Effect.gen(function*() {
      const transport = yield* child(["-e", "process.kill(process.pid, 'SIGKILL')"])
      assert.strictEqual(yield* transport.closed, "was ended by SIGKILL")
    }))

  it.live("closing its scope ends a program behind a wrapper, and with it what holds the pipes", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* temp
      const script = `"${process.execPath}" -e 'console.log(process.pid); setInterval(() => {}, 1000)' & wait`
      const pid = yield* Effect.scoped(Effect.gen(function*() {
        const transport = yield* openChildProcess(launch(folder, ["sh", "-c", script]))
        const first = yield* Stream.runHead(transport.inbound)
        return Number(Option.getOrThrow(Option.flatMap(first, Result.getSuccess)))
      }))
      assert.isFalse(alive(pid))
      assert.isTrue(yield* fs.exists(folder))
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("one that ignores SIGTERM is killed half a second later", () =>
    Effect.gen(function*() {
      const folder = yield* temp
      const script = "process.on('SIGTERM', () => {}); console.log(process.pid); setInterval(() => {}, 1000)"
      const from = { millis: 0 }
      const pid = yield* Effect.scoped(Effect.gen(function*() {
        const transport = yield* openChildProcess(launch(folder, [process.execPath, "-e", script]))
        const first = yield* Stream.runHead(transport.inbound)
        from.millis = yield* Clock.currentTimeMillis
        return Number(Option.getOrThrow(Option.flatMap(first, Result.getSuccess)))
      }))
      const took = (yield* Clock.currentTimeMillis) - from.millis
      assert.isFalse(alive(pid))
      assert.isAtLeast(took, 500)
      assert.isBelow(took, 1_500)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("a program that cannot be started fails the start with the path and what to do", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* temp
      yield* fs.writeFileString(`${folder}/ext.py`, "#!/bin/sh\n")
      yield* fs.writeFileString(`${folder}/lost.py`, "#!/no/such/python\n")
      yield* fs.chmod(`${folder}/lost.py`, 0o755)
      const why = (program: string, more: Partial<Launch> = {}) =>
        Effect.map(Effect.flip(openChildProcess({ ...launch(folder, [program]), ...more })), ({ reason }) => reason)
      assert.deepStrictEqual([
        yield* why("no-such-program-here"),
        yield* why("./missing"),
        yield* why("./ext.py"),
        yield* why("./lost.py"),
        yield* why("../"),
        yield* why("."),
        yield* why("sh", { workspace: `${folder}/gone` })
      ], [
        "cannot find no-such-program-here on PATH; install it, or name it with its path in extension.json",
        `cannot find ${folder}/missing; check "command" in extension.json`,
        `${folder}/ext.py is not executable; try chmod +x ${folder}/ext.py`,
        `cannot run ${folder}/lost.py: the interpreter that its first line names is not there`,
        `${folder.replace(/\/[^/]*$/, "")} is a folder; "command" in extension.json must name a program`,
        '. is a folder; "command" in extension.json must name a program',
        `the workspace ${folder}/gone is not there`
      ])
    }).pipe(Effect.provide(NodeServices.layer)))
})
