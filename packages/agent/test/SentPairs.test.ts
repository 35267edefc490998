/** What the model is sent: each call with its one result right behind it, whatever was interrupted where. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import type * as LanguageModel from "effect/ai/LanguageModel"
import { checkEntries } from "@nimlet/protocol"
import { errorResult, textResult } from "@nimlet/tools"
import { calls, cutShort, hangsAfter, says, tool, withAgent } from "./Rig.ts"

const few = (high: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: high }))
const Called = Schema.Literals(["look", "peek", "gaze", "change", "hang", "fails", "nowhere", "again"])
const Answered = Schema.Union([Schema.Array(Called).check(Schema.isMaxLength(4)), Schema.Literals(["hangs", "cut", "blank"])])
/** What the model answers in a turn, and when somebody interrupts it: after so many events, or so many rounds of the scheduler; 0 is never. */
const Turn = Schema.Struct({ answers: Schema.Array(Answered).check(Schema.isMaxLength(4)), interruptAt: few(20), interruptIn: few(120) })

const replyOf = (answer: typeof Answered.Type) => {
  if (answer === "hangs") return hangsAfter("half")
  if (answer === "cut") return cutShort("half ", "length")
  if (answer === "blank") return says(" ")
  // Ids repeat on purpose: a model may say the same one again.
  return answer.length === 0 ? says("word") : calls(...answer.map((name) => ({ name: name === "again" ? "look" : name, id: name })))
}

/** The ids of calls without their one result in the next message, and of results without a call. */
const unpaired = ({ prompt }: LanguageModel.ProviderOptions): ReadonlyArray<string> => {
  const messages = prompt.content
  const idsIn = (index: number, type: "tool-call" | "tool-result") => {
    const content = messages[index]?.content
    return Array.isArray(content) ? content.flatMap((part) => part.type === type ? [part.id] : []) : []
  }
  const seen = new Set<string>()
  return messages.flatMap((_, index) => {
    const made = idsIn(index, "tool-call")
    const answered = idsIn(index + 1, "tool-result")
    const strays = index === 0 || messages[index - 1]?.role !== "assistant" ? idsIn(index, "tool-result") : []
    const repeated = made.filter((id) => seen.has(id))
    for (const id of made) seen.add(id)
    return [...made.filter((id) => answered.filter((one) => one === id).length !== 1), ...answered.filter((id) => !made.includes(id)), ...strays, ...repeated]
  })
}

describe("the messages of every request", () => {
  it.effect.prop("pair calls and results", [Schema.Array(Turn).check(Schema.isMaxLength(4))], ([turns]) => {
    let answers: Array<typeof Answered.Type> = []
    const replies = () => {
      const next = answers.shift()
      return next === undefined ? says("The end.") : replyOf(next)
    }
    const slow = (name: string, rounds: number) =>
      tool(name, { capabilities: ["read"], run: () => Effect.as(Effect.repeat(Effect.yieldNow, { times: rounds }), textResult(`${name} ran`)) })
    const tools = [
      tool("look", { capabilities: ["read"] }),
      slow("peek", 3),
      slow("gaze", 12),
      tool("change"),
      tool("hang", { capabilities: ["read"], run: () => Effect.as(Effect.never, textResult("never")) }),
      tool("fails", { run: () => Effect.succeed(errorResult("no")) })
    ]
    return withAgent({ replies, tools }, ({ asked, entries, events, prompt }) =>
      Effect.gen(function*() {
        for (const turn of [...turns, { answers: [], interruptAt: 0, interruptIn: 0 }]) {
          answers = [...turn.answers]
          const before = events.length
          const running = yield* Effect.forkChild(prompt("go"))
          for (let round = 0; running.pollUnsafe() === undefined; round++) {
            yield* Effect.yieldNow
            const due = (turn.interruptAt > 0 && events.length - before >= turn.interruptAt) || (turn.interruptIn > 0 && round >= turn.interruptIn)
            if (round > 300 || due) yield* Fiber.interrupt(running)
          }
        }
        assert.deepStrictEqual(asked.map(unpaired), asked.map(() => []))
        assert.deepStrictEqual(checkEntries(JSON.parse(JSON.stringify(yield* entries))), [])
        const finished = events.flatMap((event) => event.type === "tool_result" ? [event.tool_id] : [])
        assert.deepStrictEqual(finished.toSorted(), events.flatMap((event) => event.type === "tool_call" ? [event.tool_id] : []).toSorted())
        assert.isAbove(asked.length, 0)
      }))
  }, { arbitrary: { runs: 200 }, timeout: 60_000 })
})
