/** One case of extension hosts in a process of its own: `node extension-cases.mjs NAME [--quick]` prints its figures as JSON. */
import { median } from "../measure.mjs"
import { actor, barePipe, Effect, extension, pourIntoVoid, withHost } from "./extension-host.mjs"

const quick = process.argv.includes("--quick")
const both = ["--events", "tool_call,tool_result"]
const call = { tool: "bash", arguments: { command: "ls -la src" } }
const result = { ...call, output: "total 8\nAgent.ts\n", is_error: false }
const MiB = 2 ** 20

/** Milliseconds of one run of an effect. */
const timed = (effect) =>
  Effect.suspend(() => {
    const from = performance.now()
    return Effect.map(effect, () => performance.now() - from)
  })

/**
 * A tool call's two events through `count` extensions, by our host and by bare pipes in turn, many times: medians of the
 * milliseconds each way takes, of the ratio within a round, and of what the host adds.
 */
const trips = async (count) => {
  const programs = Array.from({ length: count }, () => both)
  const pipes = await Promise.all(programs.map(barePipe))
  const bare = Effect.promise(async () => {
    for (const pipe of pipes) await pipe.ask("tool_call", call)
    for (const pipe of pipes) await pipe.ask("tool_result", result)
  })
  const rounds = quick ? 100 : 300
  const each = count === 1 ? 20 : 5
  const figures = await withHost(programs, ({ hooks }) =>
    Effect.gen(function*() {
      const hosted = Effect.andThen(hooks.run("tool_call", call), hooks.run("tool_result", result))
      const seen = []
      for (let round = -rounds / 4; round < rounds; round++) {
        const barely = (yield* timed(Effect.repeat(bare, { times: each - 1 }))) / each
        const ours = (yield* timed(Effect.repeat(hosted, { times: each - 1 }))) / each
        if (round >= 0) seen.push({ barely, ours })
      }
      return seen
    }))
  await Promise.all(pipes.map((pipe) => pipe.end()))
  return {
    bareMillis: median(figures.map(({ barely }) => barely)),
    hostMillis: median(figures.map(({ ours }) => ours)),
    ratio: median(figures.map(({ barely, ours }) => ours / barely)),
    addedMillis: median(figures.map(({ barely, ours }) => ours - barely))
  }
}

/**
 * Start of `count` programs that register after `after` ms, beside the slowest of as many on bare pipes, by turns; and the stop
 * of all. Medians.
 */
const starts = async (count, after) => {
  const programs = Array.from({ length: count }, () => ["--after", String(after)])
  const seen = []
  for (let round = 0; round < (quick ? 2 : 4); round++) {
    const from = performance.now()
    const pipes = await Promise.all(programs.map(barePipe))
    const bareMillis = performance.now() - from
    await Promise.all(pipes.map((pipe) => pipe.end()))
    const ours = await withHost(programs, ({ extensions, startMillis }) =>
      Effect.map(timed(extensions.stop), (stopMillis) => ({ hostMillis: startMillis, stopMillis })))
    // The first round of each reads its files from the disk.
    if (round > 0) seen.push({ bareMillis, ratio: ours.hostMillis / bareMillis, ...ours })
  }
  const middle = (name) => median(seen.map((one) => one[name]))
  return { bareMillis: middle("bareMillis"), hostMillis: middle("hostMillis"), ratio: middle("ratio"), stopMillis: middle("stopMillis") }
}

/** What an extension can pour that nobody waits for. */
const kinds = ["notification", "entry", "user_message", "noise", "ui_request", "unknown", "late"]

/** The same for each of them: the largest of the delays over those beside the void, and of the memory. */
const floods = async () => {
  const all = []
  for (const kind of kinds) all.push({ kind, ...(await flood({ kind, lines: 200_000 }, quick ? 1_000 : 2_000)) })
  const worst = (figure) => Math.max(...all.map((one) => one[figure]))
  return { heldMillis: worst("heldMillis"), grownMiB: worst("grownMiB"), all }
}

/**
 * Another extension's calls, one after the other, while one pours into the host; before, as long, while one pours the same into the void,
 * so that the machine is as busy: the longest of each, and what memory grew by in between. It ends when all is poured, or after `most` ms.
 */
const flood = async (args, most = Infinity) => {
  let shown = 0
  const frontend = { ...extension.headless, status: () => Effect.sync(() => void shown++), widget: () => Effect.sync(() => void shown++) }
  return withHost([["--tool", "pour"], ["--tool", "ping"]], ({ extensions }) =>
    Effect.gen(function*() {
      const ping = timed(extensions.callTool("ping", {}))
      let highest = 0
      const pingWhile = Effect.fnUntraced(function*(goesOn) {
        const all = []
        while (goesOn()) {
          all.push(yield* ping)
          highest = Math.max(highest, process.memoryUsage.rss())
        }
        return { longest: Math.max(...all), middle: median(all) }
      })
      const until = performance.now() + 1_000
      yield* pingWhile(() => performance.now() < until)
      let voided = true
      void pourIntoVoid(args).then(() => voided = false)
      const aside = yield* pingWhile(() => voided)
      globalThis.gc?.()
      const before = process.memoryUsage.rss()
      highest = before
      const watch = setInterval(() => highest = Math.max(highest, process.memoryUsage.rss()), 2)
      let pouring = true
      const from = performance.now()
      yield* Effect.forkChild(Effect.map(extensions.callTool("pour", args), () => pouring = false), { startImmediately: true })
      const busy = yield* pingWhile(() => pouring && performance.now() - from < most)
      clearInterval(watch)
      return {
        tookMillis: performance.now() - from,
        asideMillis: aside.longest,
        longestMillis: busy.longest,
        heldMillis: busy.longest - aside.longest,
        middleMillis: busy.middle,
        grownMiB: (highest - before) / MiB,
        shown
      }
    }), frontend)
}

/** Asks of an actor in memory, one after the other, each with a budget: how many a second. */
const asks = () => {
  const { Behavior, Supervisor } = actor
  const count = quick ? 50_000 : 200_000
  return Effect.runPromise(Effect.scoped(Effect.gen(function*() {
    const supervisor = yield* Supervisor.make
    const ref = yield* supervisor.spawn({
      name: "counter",
      behavior: Behavior.fold(0, (sum, { reply }) => Effect.as(reply.succeed(sum), sum + 1))
    })
    const one = ref.ask((reply) => ({ reply }), { budget: "30 seconds" })
    yield* Effect.repeat(one, { times: 20_000 })
    const millis = yield* timed(Effect.repeat(one, { times: count - 1 }))
    return { perSecond: count / millis * 1000 }
  })))
}

const cases = {
  "trip": () => trips(1),
  "ten": () => trips(10),
  "start": () => starts(10, 1000),
  "fifty": () => starts(50, 0),
  "updates": () => flood({ updates: 200_000 }),
  "line": () => flood({ bytes: 200 * MiB }),
  "floods": floods,
  "asks": asks
}
console.log(JSON.stringify(await cases[process.argv[2]]()))
process.exit(0)
