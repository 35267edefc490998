/** An answer in many small pieces, in each way of showing it, and how long a piece is held back. */
import { join } from "node:path"
import { clock, delays } from "../measure.mjs"
import { onPty } from "../pty.mjs"
import { turn } from "./turns.mjs"

const used = { wall: "ms", cpu: "ms", rss: "MiB" }
const count = 20_000
const stream = (more) => ({ deltas: { count, chunk: "tok{i} " }, stamp: true, ...more })

const json = (name, title, steps, units, limits) => ({
  name,
  title,
  subjects: ["floor", "nimlet", "pi"],
  units: { ...units, longest: "ms", middle: "ms" },
  limits,
  run: async (at) => {
    const { chunks, seen, ...figures } = await turn(at, { mode: "json", requests: 1, steps })
    return { ...figures, ...delays(seen[0].stamps, chunks, at.subject.delta) }
  }
})

export const deltas = [
  json("deltas", "20,000 deltas at once, JSON mode", [stream()], used, { pi: { wall: 0.8, rss: 0.75 } }),
  json("paced", "5,000 deltas, 5 a ms, JSON mode", [stream({ deltas: { count: 5_000, chunk: "tok{i} " }, burst: 5, pauseMs: 1 })], { cpu: "ms", rss: "MiB" }, { most: { longest: 10 } }),
  {
    name: "deltas-print",
    title: "20,000 deltas at once, print mode",
    subjects: ["floor", "nimlet", "pi"],
    units: { ...used, longest: "ms" },
    run: async (at) => {
      const { chunks, seen, ...figures } = await turn(at, { mode: "text", requests: 1, steps: [stream()] })
      // All of it comes at the end: the last piece is the one that shows how long that takes.
      return { ...figures, longest: chunks.at(-1)[0] - seen[0].stamps.at(-1)[0] }
    }
  },
  {
    name: "deltas-tui",
    title: "20,000 deltas at once, on the screen",
    subjects: ["nimlet", "pi"],
    units: { ...used, longest: "ms" },
    run: async ({ folder, place, stub, subject }) => {
      // A screen shortens so long an answer: a word in the answer after it says that all of it has come.
      await stub.setScenario([{ ...stream(), tools: [{ name: "read", args: { path: "f1.txt" } }] }, { text: "THE-END", stamp: true }])
      const terminal = onPty({ args: subject.args("tui"), cwd: join(folder, "work"), env: place.env, home: place.home })
      await terminal.until("bench-model")
      await terminal.quiet(300)
      const before = terminal.figures()
      await terminal.type("go")
      const start = clock()
      void terminal.type("\r")
      const shown = await terminal.until("THE-END")
      const { cpu, peak } = terminal.figures()
      const { stamps } = (await stub.requests()).at(-1)
      await terminal.end()
      return { wall: shown - start, cpu: cpu - before.cpu, rss: peak, longest: shown - stamps.at(-1)[0] }
    }
  }
]
