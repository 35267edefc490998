import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { Mailbox, type Offer, type Overflow, Reply } from "../src/index.ts"
import { settle } from "./settle.ts"

const Step = Schema.Struct({
  act: Schema.Literals(["tell", "ask", "abandon", "take", "settle"]),
  which: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 }))
})

/** What a mailbox is to do, as plainly as it can be said: a list, and the senders that wait for room in it. */
class Model {
  readonly capacity: number
  readonly overflow: Overflow
  queue: Array<number> = []
  waiting: Array<number> = []
  readonly dead = new Set<number>()
  readonly outcomes = new Map<number, Offer | undefined>()
  readonly dropped: Array<number> = []

  constructor(capacity: number, overflow: Overflow) {
    this.capacity = capacity
    this.overflow = overflow
  }

  offer(n: number) {
    if (this.queue.length >= this.capacity) this.queue = this.queue.filter((each) => !this.dead.has(each))
    const full = this.queue.length >= this.capacity
    if (full && this.overflow === "reject") return void this.outcomes.set(n, "full")
    if (full && this.overflow === "suspend") {
      this.waiting.push(n)
      return void this.outcomes.set(n, undefined)
    }
    if (full) this.dropped.push(this.queue.shift()!)
    this.queue.push(n)
    this.outcomes.set(n, "accepted")
  }

  take(): number | undefined {
    for (;;) {
      const first = this.queue.shift()
      const alive = first !== undefined && !this.dead.has(first)
      if (alive || first === undefined) this.#admit()
      if (alive) return first
      if (first === undefined && this.queue.length === 0) return undefined
    }
  }

  #admit() {
    while (this.queue.length < this.capacity && this.waiting.length > 0) {
      const n = this.waiting.shift()!
      this.queue.push(n)
      this.outcomes.set(n, "accepted")
    }
  }
}

describe("Mailbox, beside a model", () => {
  it.effect.prop(
    "delivers, makes wait, refuses and drops what its policy says, in order, whoever gives up meanwhile",
    [
      Schema.Literals(["suspend", "reject", "dropOldest"]),
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4 })),
      Schema.Array(Step).check(Schema.isMaxLength(60))
    ],
    ([overflow, capacity, steps]) =>
      Effect.gen(function*() {
        const box = yield* Mailbox.make<number>("a", { capacity, overflow })
        const model = new Model(capacity, overflow)
        const offers = new Map<number, Fiber.Fiber<Offer>>()
        const asks = new Map<number, Reply<string>>()
        const taken: Array<number> = []
        let n = 0
        for (const { act, which } of steps) {
          if (act === "tell" || act === "ask") {
            const reply = act === "ask" ? new Reply<string>() : undefined
            if (reply !== undefined) asks.set(n, reply)
            offers.set(n, yield* Effect.forkChild(box.offer(n, reply), { startImmediately: true }))
            model.offer(n++)
          } else if (act === "abandon") {
            const open = [...asks].filter(([id, reply]) => reply.isOpen && model.queue.includes(id))
            const chosen = open[which % Math.max(1, open.length)]
            if (chosen !== undefined) {
              assert.isFalse(chosen[1].abandon())
              model.dead.add(chosen[0])
            }
          } else if (act === "take") {
            const fiber = yield* Effect.forkChild(box.take, { startImmediately: true })
            const expected = model.take()
            if (expected === undefined) {
              assert.isUndefined(fiber.pollUnsafe())
              yield* Fiber.interrupt(fiber)
            } else {
              taken.push(yield* Fiber.join(fiber))
              assert.strictEqual(taken.at(-1), expected)
            }
          } else {
            const held = taken.filter((id) => asks.get(id)?.isOpen === true)
            const id = held[which % Math.max(1, held.length)]
            if (id !== undefined) yield* asks.get(id)!.succeed("done")
          }
          assert.strictEqual(box.size, model.queue.length)
          assert.strictEqual(box.outstanding, taken.filter((id) => asks.get(id)?.isOpen === true).length)
        }
        yield* settle
        for (const [id, fiber] of offers) {
          const exit = fiber.pollUnsafe()
          assert.strictEqual(exit?._tag === "Success" ? exit.value : undefined, model.outcomes.get(id), `offer ${id}`)
        }
        for (const id of model.dropped) {
          const reply = asks.get(id)
          if (reply !== undefined && !model.dead.has(id)) assert.strictEqual((yield* Effect.flip(reply.outcome))._tag, "MailboxFull")
        }
        yield* box.close
        for (const [id, reply] of asks) {
          assert.isFalse(reply.isOpen && model.outcomes.get(id) === "accepted", `ask ${id} is still open after the end`)
        }
        for (const [id, fiber] of offers) {
          if (model.outcomes.get(id) === undefined) assert.strictEqual(yield* Fiber.join(fiber), "closed")
        }
      }),
    { arbitrary: { runs: 300, size: 200 } }
  )
})
