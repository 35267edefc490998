/** nimlet in RPC mode as a test drives it by real pipes: commands in, replies and records out. */
import { RpcRecord, StreamRecord } from "@nimlet/protocol"
import { Result, Schema } from "effect"
import { records, type RunOptions, type RunResult, type Running, startNimlet, type Workspace } from "./Workspace.ts"

type Json = Record<string, any>

/** A driven nimlet. */
export interface RpcDriver {
  readonly running: Running
  /** Sends a command and gives its id. */
  readonly send: (type: string, body?: object) => string
  /** Sends a command and waits for its reply. */
  readonly ask: (type: string, body?: object) => Promise<Json>
  /** Writes to its standard input as it is. */
  readonly raw: (text: string) => void
  /** Every whole record so far. */
  readonly all: () => Array<Json>
  /** The first record that `holds`, now or later. */
  readonly until: (holds: (record: Json) => boolean) => Promise<Json>
  /** The end of the turn that a command began. */
  readonly turn: (id: string) => Promise<Json>
  /** Ends its input and waits for its end. */
  readonly end: () => Promise<RunResult>
}

/** Starts nimlet in RPC mode in a workspace. */
export const startRpc = (space: Workspace, args: ReadonlyArray<string>, options: Partial<RunOptions> = {}): RpcDriver => {
  const running = startNimlet({ args: ["--mode", "rpc", ...args], cwd: space.work, home: space.home, holdStdin: true, ...options })
  const all = () => records(running.stdout().slice(0, running.stdout().lastIndexOf("\n") + 1))
  const raw = (text: string) => void running.child.stdin!.write(text)
  let count = 0
  const send = (type: string, body: object = {}) => {
    const id = `c${++count}`
    raw(`${JSON.stringify({ id, type, ...body })}\n`)
    return id
  }
  const until = async (holds: (record: Json) => boolean) => {
    await running.until(() => all().some(holds))
    return all().find(holds)!
  }
  const reply = (id: string) => until((record) => record["type"] === "response" && record["id"] === id)
  return {
    running,
    send,
    raw,
    all,
    until,
    ask: (type, body) => reply(send(type, body)),
    turn: (id) => until((record) => record["type"] === "run_end" && record["request_id"] === id),
    end: () => {
      running.child.stdin!.end()
      return running.ended
    }
  }
}

const readers = { json: Schema.decodeUnknownResult(StreamRecord), rpc: Schema.decodeUnknownResult(RpcRecord) }

/** What of a stream is not as the published schema says, a sentence a record. */
export const strangers = (stream: ReadonlyArray<Json>, mode: "json" | "rpc" = "json"): ReadonlyArray<string> =>
  stream.flatMap((record) => {
    const read = readers[mode](record)
    return Result.isSuccess(read) ? [] : [`${JSON.stringify(record)}: ${read.failure.message}`]
  })
