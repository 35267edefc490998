/** A till that crashes on a bad coin and is started again by its supervisor: `node packages/actor/examples/till.ts`. */
import { Console, Effect } from "effect"
import { Behavior, type Reply, Supervisor } from "@nimlet/actor"

interface Pay {
  readonly coin: number
  readonly total: Reply<number>
}

/** One life: its state begins at zero and goes with it. */
const till = Behavior.fold(0, (sum, { coin, total }: Pay) =>
  coin > 0 ? Effect.as(total.succeed(sum + coin), sum + coin) : Effect.fail("a bad coin"))

const program = Effect.scoped(Effect.gen(function*() {
  const supervisor = yield* Supervisor.make
  const ref = yield* supervisor.spawn({ name: "till", behavior: till })
  const pay = (coin: number) => ref.ask<number>((total) => ({ coin, total }), { budget: "1 second" })

  yield* Console.log(yield* pay(2), yield* pay(3)) // 2 5
  yield* Console.log((yield* Effect.flip(pay(-1))).message) // actor 'till' is not running
  yield* ref.ready // back after about 200 ms
  yield* Console.log(yield* pay(1), yield* supervisor.children) // 1 [ { name: 'till', status: 'Running', restarts: 1 } ]
}))

Effect.runPromise(program)
