/** One process for many turns: a conversation in RPC mode, its memory after 1,000 turns, extensions started anew; and many processes at once. */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { clock, environment, median, processFigures, run } from "../measure.mjs"

/** A subject in RPC mode: `ask(command)` resolves to its reply, `until(holds)` to the next record that holds. */
const speakWith = ({ folder, place, session, subject }) => {
  const start = clock()
  const child = spawn(process.execPath, subject.args("rpc", undefined, session), {
    cwd: join(folder, "work"),
    stdio: ["pipe", "pipe", "inherit"],
    env: environment(place.home, place.env)
  })
  const over = new Promise((resolve) => child.once("close", resolve))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const until = async (holds) => {
    for (;;) {
      const { done, value } = await lines.next()
      if (done) throw new Error("it ended before it answered")
      const record = JSON.parse(value)
      if (holds(record)) return record
    }
  }
  const send = (command) => child.stdin.write(`${JSON.stringify(command)}\n`)
  let asked = 0
  const ask = async (command) => {
    const id = `r${++asked}`
    send({ id, ...command })
    const reply = await until((record) => record.type === "response" && record.id === id)
    if (reply.ok === false || reply.success === false) throw new Error(`it refused ${command.type}: ${reply.error}`)
    return reply
  }
  const turn = async () => {
    const begun = clock()
    send({ id: `t${++asked}`, type: "prompt", message: "Say done." })
    const end = await until(subject.isEnd)
    if (end.success === false) throw new Error(`a turn failed: ${end.error}`)
    return clock() - begun
  }
  return {
    start,
    ask,
    turn,
    figures: () => processFigures(child.pid),
    end: async () => {
      child.stdin.end()
      await over
    }
  }
}

const conversation = async (at, turns) => {
  await at.stub.setScenario([{ text: "Done.", repeat: turns }])
  const other = speakWith(at)
  await other.ask({ type: "get_state" })
  const ready = clock() - other.start
  const times = []
  let middle
  for (let n = 0; n < turns; n++) {
    times.push(await other.turn())
    if (n === turns >> 1) middle = other.figures().now
  }
  const { cpu, now, peak } = other.figures()
  await other.end()
  return { ready, first: times[0], turn: median(times.slice(1)), cpu, rss: peak, now, grown: now - middle }
}

/** A run that goes on with a session: its figures, when its first request came, and how many messages that had. */
const goOn = async ({ folder, place, session, stub, subject }) => {
  await stub.setScenario([{ text: "Done.", repeat: 2 }])
  const args = subject.args("text", "Say done.", session)
  const { chunks: _, start, ...figures } = await run({ args, cwd: join(folder, "work"), env: place.env, home: place.home, usage: join(folder, "usage") })
  const [{ arrivedAt, body }] = await stub.requests()
  return { ...figures, first: arrivedAt - start, messages: body.messages.length }
}

const atOnce = 50

export const conversations = [
  {
    name: "rpc",
    title: "RPC mode, 60 short turns",
    subjects: ["nimlet", "pi"],
    units: { ready: "ms", first: "ms", turn: "ms", cpu: "ms", rss: "MiB" },
    limits: { pi: { ready: 0.8, turn: 0.9, rss: 0.85 } },
    run: (at) => conversation(at, 60)
  },
  {
    name: "memory",
    title: "RPC mode, 1,000 short turns",
    subjects: ["nimlet", "pi"],
    rounds: 1,
    units: { turn: "ms", cpu: "ms", rss: "MiB", now: "MiB", grown: "MiB" },
    run: (at) => conversation(at, 1_000)
  },
  {
    name: "reload",
    title: "10 programs and 10 modules started anew, 20 times",
    subjects: ["nimlet"],
    rounds: 5,
    units: { wall: "ms", grown: "MiB" },
    extensions: { nimlet: [{ family: "nimlet", count: 10 }, { family: "atomic", count: 10 }] },
    run: async (at) => {
      const other = speakWith(at)
      await other.ask({ type: "get_state" })
      const times = []
      const reload = async () => {
        const begun = clock()
        await other.ask({ type: "reload" })
        times.push(clock() - begun)
      }
      // Twenty threads that end leave room behind, which those that come take again after some times.
      for (let n = 0; n < 10; n++) await reload()
      const before = other.figures().now
      for (let n = 0; n < 10; n++) await reload()
      const grown = other.figures().now - before
      await other.end()
      return { wall: median(times), grown }
    }
  },
  {
    name: "many",
    title: `${atOnce} JSON runs at once`,
    subjects: ["nimlet"],
    rounds: 3,
    units: { wall: "ms", rss: "MiB" },
    limits: { most: { rss: 110 } },
    run: async ({ folder, place, stub, subject }) => {
      await stub.setScenario([{ text: "Done.", repeat: atOnce }])
      const start = clock()
      const runs = await Promise.all(Array.from({ length: atOnce }, (_, k) =>
        run({ args: subject.args("json", "Say done."), cwd: join(folder, "work"), env: place.env, home: place.home, usage: join(folder, `usage-${k}`) })))
      const wall = clock() - start
      for (const { chunks } of runs) {
        if (!Buffer.concat(chunks.map(([, data]) => data)).toString().trimEnd().endsWith("\"success\":true}")) throw new Error("a run has not told of its end")
      }
      return { wall, rss: Math.max(...runs.map(({ rss }) => rss)) }
    }
  },
  {
    name: "resume",
    title: "a session of 20,000 entries gone on with",
    subjects: ["nimlet", "pi"],
    units: { first: "ms", wall: "ms", cpu: "ms", rss: "MiB" },
    limits: { pi: { first: 0.5, rss: 0.7 }, most: { rss: 150 } },
    session: { entries: 20_000, sentences: 13 },
    run: async (at) => {
      const { messages, ...figures } = await goOn(at)
      if (messages < 15_000) throw new Error(`only ${messages} messages were sent`)
      return figures
    }
  },
  {
    name: "resume-large",
    title: "one of 50,000 entries, 200 MB, gone on with",
    subjects: ["nimlet"],
    rounds: 3,
    units: { first: "ms", wall: "ms", cpu: "ms", rss: "MiB" },
    limits: { most: { first: 3_000, rss: 600 } },
    // No model takes all of that: the first request is for a summary.
    compaction: true,
    session: { entries: 50_000, sentences: 192 },
    run: async (at) => {
      const { messages: _, ...figures } = await goOn(at)
      return figures
    }
  }
]
