import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, PlatformError } from "effect"
import { makeFindProcesses } from "../src/Operations/ProcessTable.ts"

const missing = Effect.fail(PlatformError.systemError({ _tag: "NotFound", module: "FileSystem", method: "read" }))

/** A made-up `/proc`: pid → stat, environment, command line, folder; undefined where it must not be read. We are process 50. */
const tableOf = (processes: { readonly [pid: number]: readonly [stat: string, environ: string | undefined, cmdline: string, cwd?: string] } | undefined, last = 999) =>
  makeFindProcesses(FileSystem.makeNoop({
    readDirectory: () => processes === undefined ? missing : Effect.succeed([...Object.keys(processes), "self", "cpuinfo"]),
    readFileString: (path) => {
      if (path === "/proc/loadavg") return Effect.succeed(`0.10 0.20 0.30 1/99 ${last}\n`)
      const [, , pid, name] = path.split("/")
      const [stat, environ, cmdline] = processes?.[Number(pid)] ?? []
      const text = name === "stat" ? stat : name === "environ" ? environ : cmdline
      return text === undefined ? missing : Effect.succeed(text)
    },
    readLink: (path) => {
      const cwd = processes?.[Number(path.split("/")[2])]?.[3]
      return cwd === undefined ? missing : Effect.succeed(cwd)
    }
  }), 50, () => 4)

const found = (processes: Parameters<typeof tableOf>[0], query: Parameters<ReturnType<typeof tableOf>>[0], last?: number) =>
  Effect.map(tableOf(processes, last)(query), (list) => list?.map(({ pid }) => pid))

const stat = (pid: number, parent: number, group: number, started: number) => `${pid} (x) S ${parent} ${group} ${group} 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 ${started} 0`

describe("ProcessTable", () => {
  it.effect("finds members of a group and what carries the mark, after a process", () =>
    Effect.gen(function*() {
      const processes = {
        90: ["90 (old) S 1 90 90 0", "CALL=s-1\0", "old\0"],
        101: ["101 (sh) S 1 100 100 0", "PATH=/\0", "sleep\x00600\0"],
        102: ["102 (a (b) c) S 1 102 102 0", "PATH=/\0CALL=s-1\0X=1\0", "daemon\0"],
        103: ["103 (other) S 1 103 103 0", undefined, "other\0"],
        104: ["104 (later) S 1 104 104 0", "XCALL=s-1\0CALL=s-12\0", "later\0"]
      } as const
      assert.deepStrictEqual(yield* tableOf(processes)({ mark: "CALL=s-1\0", group: 100, after: { pid: 100, uptime: 3.5 } }), [
        { pid: 101, group: 100, command: "sleep 600", isOrphan: false },
        { pid: 102, group: 102, command: "daemon", isOrphan: false }
      ])
      assert.deepStrictEqual(yield* found(processes, { mark: "CALL=s-" }), [90, 102, 104])
    }))

  it.effect("finds what threw its environment away, by the folder that it stayed in, and by who took it in when its parents had died", () =>
    Effect.gen(function*() {
      const processes = {
        40: ["40 (taker) S 1 40 40 0", undefined, "taker\0", "/w"],
        50: ["50 (we) S 40 50 50 0", undefined, "we\0", "/w"],
        101: [stat(101, 1, 101, 350), "", "a\0", "/w"],
        102: [stat(102, 40, 102, 350), "", "b\0", "/w/sub"],
        103: [stat(103, 50, 103, 350), "", "ours\0", "/w"],
        104: [stat(104, 103, 104, 350), "", "child\0", "/w"],
        105: [stat(105, 1, 105, 350), "", "away\0", "/wide"],
        106: ["106 (hidden) S 1 106 106 0", undefined, "hidden\0"],
        90: ["90 (old) S 1 90 90 0", "", "old\0", "/w"]
      } as const
      const query = { mark: "CALL=s-1\0", group: 100, after: { pid: 100, uptime: 3.5 } }
      assert.deepStrictEqual((yield* tableOf(processes)({ ...query, folder: "/w" }))?.map(({ isOrphan, pid }) => [pid, isOrphan]), [[101, true], [102, true]])
      assert.deepStrictEqual(yield* found(processes, query), [])
      assert.deepStrictEqual(yield* found(processes, { mark: query.mark, folder: "/w" }), [])
    }))

  it.effect("takes nothing that is older than us or than the call for left running, when the system has begun again with low numbers", () =>
    Effect.gen(function*() {
      const processes = {
        9: [stat(9, 1, 9, 350), "", "left\0", "/w"],
        11: [stat(11, 1, 11, 340), "", "of a call before\0", "/w"],
        30: [stat(30, 1, 30, 300), "", "shell\0", "/w"],
        50: [stat(50, 30, 50, 310), "", "we\0", "/w"],
        60: [stat(60, 30, 60, 305), "", "timeout\0", "/w"]
      } as const
      assert.deepStrictEqual(yield* found(processes, { mark: "CALL=s-1\0", group: 7, after: { pid: 7, uptime: 3.5 }, folder: "/w" }), [9])
    }))

  it.effect("finds what has a lower number than its call, once the system has begun again or may have", () =>
    Effect.gen(function*() {
      const processes = {
        9: [stat(9, 1, 800, 360), "", "of the group\0"],
        10: [stat(10, 1, 10, 360), "CALL=s-1\0", "marked\0"],
        12: [stat(12, 1, 12, 360), "", "orphan\0", "/w"],
        50: [stat(50, 1, 50, 310), "", "we\0", "/w"]
      } as const
      const query = (uptime: number) => ({ mark: "CALL=s-1\0", group: 800, after: { pid: 800, uptime }, folder: "/w" })
      assert.deepStrictEqual(yield* found(processes, query(3.5), 12), [9, 10, 12])
      assert.deepStrictEqual(yield* found(processes, query(2.9), 900), [9, 10, 12])
      assert.deepStrictEqual(yield* found(processes, query(3.5), 900), [])
    }))

  it.effect("leaves out what has ended and was not reaped, and cuts a long command line", () =>
    Effect.gen(function*() {
      const list = yield* tableOf({ 5: ["5 (x) Z 1 4 4 0", "", ""], 6: ["6 (x) S 1 4 4 0", "", "y".repeat(500)] })({ mark: "M=", group: 4 })
      assert.deepStrictEqual(list, [{ pid: 6, group: 4, command: "y".repeat(80), isOrphan: false }])
    }))

  it.effect("knows nothing where there is no such folder", () =>
    Effect.gen(function*() {
      assert.isUndefined(yield* found(undefined, { mark: "M=", group: 4 }))
    }))
})
