/** Whatever a model answers, and whenever somebody interrupts or speaks: the records are in order, as published, and one result is there for each call. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as AiError from "effect/ai/AiError"
import { checkEntries, checkRecords, encodeRecord, type RecordObject, StreamRecord } from "@nimlet/protocol"
import { errorResult } from "@nimlet/tools"
import { calls, hangsAfter, refuses, type Reply, says, tool, withAgent } from "./Rig.ts"

const few = (high: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: high }))
const Called = Schema.Literals(["look", "change", "fails", "banned", "nowhere"])
const Answered = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("text"), length: few(2) }),
  Schema.Struct({ kind: Schema.Literal("calls"), tools: Schema.NonEmptyArray(Called).check(Schema.isMaxLength(4)) }),
  Schema.Struct({ kind: Schema.Literals(["refused", "overloaded", "hangs"]) })
])
const Turn = Schema.Struct({
  answers: Schema.Array(Answered).check(Schema.isMaxLength(5)),
  /** After how many events it is interrupted; 0 for never. */
  interruptAt: few(25),
  /** After how many events something is said; 0 for never. */
  speakAt: few(12),
  says: Schema.Literals(["steer", "followUp"])
})
/** Two turns in one session. */
const Play = Schema.Tuple([Turn, Turn])

const replyOf = (answer: typeof Answered.Type): Reply => {
  switch (answer.kind) {
    case "text":
      return says("word ".repeat(answer.length))
    case "calls":
      return calls(...answer.tools.map((name, index) => ({ name, id: `${name}-${index}` })))
    case "refused":
      return refuses(new AiError.AuthenticationError({ kind: "InvalidKey" }))
    case "overloaded":
      return refuses(new AiError.RateLimitError({}))
    case "hangs":
      return hangsAfter("half an")
  }
}

const decode = Schema.decodeUnknownResult(StreamRecord)

describe("the records of a session", () => {
  it.effect.prop("are right for every script", [Play], ([turns]) => {
    const answers = turns.map((turn) => [...turn.answers])
    let playing = 0
    const replies = () => {
      const next = answers[playing]!.shift()
      return next === undefined ? says("The end.") : replyOf(next)
    }
    const tools = [
      tool("look", { capabilities: ["read"] }),
      tool("change"),
      tool("fails", { run: () => Effect.succeed(errorResult("it failed")) }),
      tool("banned")
    ]
    return withAgent({
      replies,
      tools,
      answers: { tool_call: ({ tool: name }) => name === "banned" ? { _tag: "Blocked", reason: "not here" } : {} },
      // What an interrupted turn has left is for whoever began it.
      agent: { onIdleInput: () => Effect.void }
    }, ({ agent, entries, events, prompt, session }) =>
      Effect.gen(function*() {
        let success = true
        for (const [index, turn] of turns.entries()) {
          playing = index
          const before = events.length
          yield* agent.clearQueued
          const running = yield* Effect.forkChild(prompt(`turn ${index}`))
          let spoken = turn.speakAt === 0
          for (let round = 0; running.pollUnsafe() === undefined; round++) {
            yield* Effect.yieldNow
            const seen = events.length - before
            if (!spoken && seen >= turn.speakAt) {
              spoken = true
              yield* agent[turn.says]("and this")
            }
            if (turn.interruptAt > 0 && seen >= turn.interruptAt || round > 300) {
              yield* Fiber.interrupt(running)
              break
            }
            if (round % 20 === 19) yield* TestClock.adjust("1 minute")
          }
          const exit = yield* Fiber.await(running)
          success &&= exit._tag === "Success" && exit.value.success
        }
        const lines = events.filter(({ type }) => type !== "queue").flatMap((event) => encodeRecord(event) ?? [])
        const stream: ReadonlyArray<RecordObject> = [
          { version: 1, type: "session_start", session_id: session.id },
          ...lines.map((line): RecordObject => JSON.parse(line)),
          { version: 1, type: "session_end", session_id: session.id, success }
        ]
        const told = () => stream.map((record) => JSON.stringify(record)).join("\n")
        assert.deepStrictEqual(checkRecords(stream), [], told())
        assert.deepStrictEqual(stream.filter((record) => Result.isFailure(decode(record))), [])
        assert.deepStrictEqual(checkEntries(JSON.parse(JSON.stringify(yield* entries))), [], told())
      }))
  }, { arbitrary: { runs: 400 }, timeout: 240_000 })
})
