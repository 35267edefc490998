/** `nimlet replay FILE`: reads what a machine mode wrote, or a session, and says what of it is out of order or missing. */
import { Effect, FileSystem, Path, Result } from "effect"
import { checkEntries, checkRecords, type RecordObject } from "@nimlet/protocol"
import type { Host } from "./Host.ts"
import { asLines } from "./modes/Print.ts"
import { Output } from "./Output.ts"

/** Something wrong: in which line, from 1, and what. */
interface Finding {
  readonly line: number
  readonly problem: string
}

/** What a file holds, and what is wrong with it. */
export interface Replay {
  readonly kind: "JSON mode" | "RPC mode" | "session"
  readonly count: number
  readonly findings: ReadonlyArray<Finding>
}

interface NumberedObject {
  readonly line: number
  readonly value: RecordObject
}

const isObject = (value: unknown): value is RecordObject => typeof value === "object" && value !== null && !Array.isArray(value)

const readLine = (text: string): Result.Result<RecordObject, string> => {
  const parsed = Result.try({ try: (): unknown => JSON.parse(text), catch: (error) => `this is no JSON: ${error instanceof Error ? error.message : String(error)}` })
  return Result.flatMap(parsed, (value) => isObject(value) ? Result.succeed(value) : Result.fail("this is no JSON object"))
}

/** Checks the text of a file. Pure. */
export const replay = (text: string): Replay => {
  const good: Array<NumberedObject> = []
  const findings: Array<Finding> = []
  const lines = text.split("\n")
  const complete = lines.at(-1) === ""
  lines.forEach((content, index) => {
    if (content.trim() === "") return
    const read = readLine(content)
    if (Result.isSuccess(read)) good.push({ line: index + 1, value: read.success })
    else findings.push({ line: index + 1, problem: read.failure })
  })
  if (text !== "" && !complete) findings.push({ line: lines.length, problem: "the last line has no end" })
  const values = good.map(({ value }) => value)
  const headed = values[0]?.["type"] === "session"
  const stored = values.some((value) => value["type"] === "session") || values.length > 0 && values.every((value) => value["version"] !== 1)
  const rpc = values.some((value) => value["type"] === "response")
  if (stored && !(headed && typeof values[0]?.["workspace"] === "string")) {
    findings.push({ line: good[0]?.line ?? 1, problem: "this is no header of a session: type session, and a workspace" })
  }
  const [first, checked] = stored
    ? [headed ? 1 : 0, checkEntries(headed ? values.slice(1) : values)]
    : [0, checkRecords(values, { mode: rpc ? "rpc" : "json" })]
  const last = lines.length - (complete ? 1 : 0)
  findings.push(...checked.map(({ index, problem }) => ({ line: good[index + first]?.line ?? Math.max(1, last), problem })))
  return { kind: stored ? "session" : rpc ? "RPC mode" : "JSON mode", count: values.length, findings: findings.toSorted((a, b) => a.line - b.line) }
}

const count = (number: number, one: string) => `${number} ${one}${number === 1 ? "" : "s"}`

/** Checks a file and writes what is wrong, a line each. Gives the exit code: 0 when nothing is. */
export const replayFile = Effect.fnUntraced(function*(file: string, host: Host) {
  const { err, out } = yield* Output
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const text = yield* Effect.result(fs.readFileString(path.resolve(host.cwd, file)))
  if (Result.isFailure(text)) return yield* Effect.as(err(asLines(`nimlet cannot read ${file}: ${text.failure.message}`)), 1)
  const { count: lines, findings, kind } = replay(text.success)
  for (const { line, problem } of findings) yield* out(`${file}:${line}: ${problem}\n`)
  const what = `${count(lines, kind === "session" ? "line" : "record")} of ${kind === "session" ? "a session" : kind}`
  yield* out(`${what}: ${findings.length === 0 ? "nothing is wrong" : `${count(findings.length, "problem")}`}\n`)
  return findings.length === 0 ? 0 : 1
})
