/** Runs from start to end: the start alone, a short answer, calls one after the other, and what hooks of extensions add to them. */
import { join } from "node:path"
import { median, run } from "../measure.mjs"

export const fileText = (i) => `file ${i}: the quick brown fox jumps over the lazy dog\n`

/** The subject's own time for one read: from the end of an answer to the next request, as the model sees it; the median. */
const turnaround = (seen) => median(seen.slice(1).map(({ arrivedAt }, k) => arrivedAt - seen[k].endedAt))

/** One turn in print or JSON mode. It must make the expected requests, and send the last file's text. */
export const turn = async ({ folder, place, session, stub, subject }, { mode, requests, steps }) => {
  await stub.setScenario(steps)
  const args = subject.args(mode, "Read the files, then say done.", session)
  const figures = await run({ args, cwd: join(folder, "work"), env: place.env, home: place.home, usage: join(folder, "usage") })
  const seen = await stub.requests()
  const problem = seen.find((request) => request.problem !== undefined)
  if (problem !== undefined) throw new Error(`the stub refused a request: ${problem.problem}`)
  if (seen.length !== requests) throw new Error(`${seen.length} requests instead of ${requests}`)
  if (requests > 1 && !JSON.stringify(seen.at(-1).body.messages.slice(-1)).includes(fileText(requests - 1).trim())) throw new Error("the last tool result does not hold the file")
  return { ...figures, seen, ...(requests > 1 ? { read: turnaround(seen) } : {}) }
}

const answer = { mode: "text", requests: 1, steps: [{ text: "Done." }] }
const reads = (count) => ({ mode: "text", requests: count + 1, steps: [{ tools: [{ name: "read", args: { path: "f{i}.txt" } }], repeat: count }, { text: "Done." }] })
const used = { wall: "ms", cpu: "ms", rss: "MiB" }

const text = (name, title, mode) => ({
  name,
  title,
  subjects: ["floor", "nimlet", "pi"],
  units: used,
  limits: { pi: { wall: 0.75, rss: 0.85 } },
  run: (at) => turn(at, { ...answer, mode })
})

/** What a call costs: the time from the first request to the last, shared out; the answer that asks for it is in it. */
const readCase = (count, limits) => ({
  name: `reads${count}`,
  title: `${count} reads`,
  subjects: ["floor", "nimlet", "pi"],
  units: { ...used, call: "ms", read: "ms" },
  limits,
  run: async (at) => {
    const figures = await turn(at, reads(count))
    return { ...figures, call: (figures.seen.at(-1).arrivedAt - figures.seen[0].arrivedAt) / count }
  }
})

/** 200 reads beside `count` extensions of a family, each with the two hooks of a call; pi has `theirs` modules of its own. */
const hookCase = (family, count, theirs, limits = {}) => ({
  name: `hooks-${family}-${count}`,
  title: `200 reads, ${count} ${family} extensions${theirs > 0 ? `, pi with ${theirs}` : ""}`,
  subjects: ["nimlet", "pi"],
  units: { ...used, read: "ms" },
  limits,
  extensions: { nimlet: { family, count }, pi: { count: theirs } },
  run: (at) => turn(at, reads(200))
})

export const turns = [
  {
    name: "start",
    title: "--version",
    subjects: ["floor", "nimlet", "pi"],
    units: used,
    limits: { floor: { wall: 1.3 } },
    run: ({ folder, place, subject }) => run({ args: subject.args("version"), cwd: join(folder, "work"), env: place.env, home: place.home, usage: join(folder, "usage") })
  },
  text("text", "text turn, print mode", "text"),
  text("json", "text turn, JSON mode", "json"),
  readCase(20, { pi: { call: 0.6, rss: 0.85 } }),
  readCase(200, {}),
  hookCase("nimlet", 0, 0),
  hookCase("nimlet", 1, 0),
  hookCase("nimlet", 10, 0, { pi: { wall: 1, rss: 1 } }),
  hookCase("niminal", 1, 0),
  hookCase("niminal", 10, 0, { pi: { wall: 1, rss: 1 } }),
  hookCase("atomic", 1, 1),
  hookCase("atomic", 10, 10, { pi: { wall: 1, rss: 1.7 } })
]
