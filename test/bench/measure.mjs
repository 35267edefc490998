/** One measured run of one program: wall time and output from the outside, CPU and memory by `programs/usage.cjs`. */
import { spawn } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"

const programs = join(import.meta.dirname, "programs")

/** Milliseconds of the machine's monotonic clock, the one the stub stamps with. */
export const clock = () => Number(process.hrtime.bigint()) / 1e6

export const median = (values) => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** What every measured program is started with: few variables, so that none of ours changes what it does. */
export const environment = (home, more) => ({
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  HOME: home,
  LANG: "C.UTF-8",
  TERM: "dumb",
  ...more
})

/** Starts the model stub as a process of its own; it ends with this one. */
export const startStub = async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../kit/model-stub.ts"), "--until-stdin-ends"], { stdio: ["pipe", "pipe", "inherit"] })
  const line = await new Promise((resolve, reject) => {
    child.stdout.once("data", resolve)
    child.once("exit", (code) => reject(new Error(`the model stub ended with ${code}`)))
  })
  const { url } = JSON.parse(line)
  return {
    url,
    setScenario: async (steps) => {
      const response = await fetch(`${url}/stub/scenario`, { method: "PUT", body: JSON.stringify(steps) })
      if (!response.ok) throw new Error(await response.text())
    },
    requests: async () => (await fetch(`${url}/stub/requests`)).json(),
    stop: () => child.stdin.end()
  }
}

/**
 * Runs `node args` to its end or the limit. Gives when it was started, wall and CPU in ms, the peak memory of its largest
 * process in MiB, and stdout as chunks with the time each arrived. Throws when its exit code is not 0.
 */
export const run = async ({ args, cwd, env, home, limitMs = 120_000, usage }) => {
  rmSync(usage, { recursive: true, force: true })
  mkdirSync(usage, { recursive: true })
  const chunks = []
  let stderr = ""
  const start = clock()
  const child = spawn(process.execPath, args, {
    cwd,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: environment(home, { NODE_OPTIONS: `--require "${join(programs, "usage.cjs")}"`, BENCH_USAGE: usage, ...env })
  })
  child.stdout.on("data", (data) => chunks.push([clock(), data]))
  child.stderr.on("data", (data) => stderr += data)
  const limit = setTimeout(() => process.kill(-child.pid, "SIGKILL"), limitMs)
  let wall = 0
  child.once("exit", () => wall = clock() - start)
  const [code, signal] = await new Promise((resolve, reject) => child.once("error", reject).once("close", (...ending) => resolve(ending)))
  clearTimeout(limit)
  if (code !== 0) throw new Error(`it ended with ${signal ?? code}\n${stderr.slice(-2000)}`)
  const used = readdirSync(usage).map((file) => JSON.parse(readFileSync(join(usage, file), "utf8")))
  return {
    start,
    wall,
    chunks,
    cpu: used.reduce((sum, { cpu }) => sum + cpu, 0),
    rss: Math.max(0, ...used.map(({ rss }) => rss))
  }
}

/** Runs a program of ours that prints its figures as one JSON object. */
export const figuresOf = async (file, args = [], nodeArgs = []) => {
  const child = spawn(process.execPath, [...nodeArgs, join(programs, file), ...args], { stdio: ["ignore", "pipe", "inherit"] })
  let text = ""
  child.stdout.on("data", (data) => text += data)
  const code = await new Promise((resolve) => child.once("close", resolve))
  if (code !== 0) throw new Error(`${file} ${args.join(" ")} ended with ${code}`)
  return JSON.parse(text)
}

/** CPU in ms that a process has used so far, and its present and highest memory in MiB. Linux. */
export const processFigures = (pid) => {
  const ticks = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ").slice(11, 13)
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  const memory = (key) => Number(new RegExp(`${key}:\\s+(\\d+)`).exec(status)[1]) / 1024
  return { cpu: ticks.reduce((sum, n) => sum + Number(n) * 10, 0), now: memory("VmRSS"), peak: memory("VmHWM") }
}

/** When each piece of text was whole on stdout: `[ms, characters so far]`, in order. */
const arrivals = (chunks, delta) => {
  const found = []
  let rest = ""
  let length = 0
  const decoder = new TextDecoder()
  for (const [at, data] of chunks) {
    const lines = (rest + decoder.decode(data, { stream: true })).split("\n")
    rest = lines.pop()
    for (const line of lines) {
      const text = delta(JSON.parse(line))
      if (text === undefined) continue
      length += text.length
      found.push([at, length])
    }
  }
  return found
}

/** From the stub's write of each delta to its arrival on stdout, in ms: the longest and the median. Throws when text is lost. */
export const delays = (stamps, chunks, delta) => {
  const seen = arrivals(chunks, delta)
  const written = stamps.reduce((sum, [, length]) => sum + length, 0)
  if (seen.at(-1)?.[1] !== written) throw new Error(`${written} characters were written, ${seen.at(-1)?.[1] ?? 0} arrived`)
  let length = 0
  let next = 0
  const all = stamps.map(([at, size]) => {
    length += size
    while (seen[next][1] < length) next++
    return seen[next][0] - at
  })
  return { longest: Math.max(...all), middle: median(all) }
}
