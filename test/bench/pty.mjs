/** A program on a pty of `script`, 100 columns and 30 rows. */
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { setTimeout as wait } from "node:timers/promises"
import { clock, environment, processFigures } from "./measure.mjs"

/** Starts `node args` there. What it shows is looked for as it comes, escapes and all. */
export const onPty = ({ args, cwd, env, home, limitMs = 60_000 }) => {
  const chunks = []
  let wake = () => undefined
  let over = false
  const start = clock()
  const words = [process.execPath, ...args].map((word) => `'${word}'`).join(" ")
  const child = spawn("script", ["-qefc", `stty cols 100 rows 30; exec ${words}`, "/dev/null"], {
    cwd,
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
    env: environment(home, { TERM: "xterm-256color", ...env })
  })
  child.stdout.on("data", (data) => {
    chunks.push([clock(), data.toString("latin1")])
    wake()
  })
  // `script` gives it a session of its own: it is named itself, and waited for.
  const pid = () => Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim().split(" ")[0])
  const closed = new Promise((done) => child.once("close", done))
  const end = async (signal = "SIGTERM") => {
    if (!over) process.kill(pid(), signal)
    const late = setTimeout(() => over || process.kill(pid(), "SIGKILL"), 6_000)
    await closed
    clearTimeout(late)
  }
  const limit = setTimeout(() => end("SIGKILL"), limitMs)
  child.once("close", () => {
    over = true
    clearTimeout(limit)
    wake()
  })
  /** When `text` was shown, counted from chunk `from` on. A text may lie across two chunks. */
  const until = async (text, from = 0) => {
    for (let at = from;;) {
      for (; at < chunks.length; at++) if (`${at > from ? chunks[at - 1][1] : ""}${chunks[at][1]}`.includes(text)) return chunks[at][0]
      if (over) throw new Error(`it ended before "${text}":\n${chunks.slice(-20).map(([, data]) => data).join("")}`)
      await new Promise((done) => (wake = done))
    }
  }
  const type = (text) => child.stdin.write(text)
  return {
    start,
    until,
    end,
    pid,
    figures: () => processFigures(pid()),
    write: type,
    /** How many chunks were shown until now. */
    shown: () => chunks.length,
    type: async (...texts) => {
      for (const text of texts) {
        type(text)
        await wait(100)
      }
    },
    /** Returns when nothing was shown for so many ms. */
    quiet: async (millis) => {
      for (let seen = -1; seen !== chunks.length;) {
        seen = chunks.length
        await wait(millis)
      }
    },
    /** From a key to the first output after it that holds the key, in ms, `count` times; sorted. */
    echoes: async (count) => {
      const times = []
      for (let n = 0; n < count; n++) {
        const key = "qzjx"[n % 4]
        const from = chunks.length
        const at = clock()
        type(key)
        times.push(await until(key, from) - at)
        await wait(20)
      }
      return times.sort((a, b) => a - b)
    }
  }
}
