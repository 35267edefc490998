/** What the parts cost by themselves, each case a program of its own: extension hosts, the session store, the terminal, many sessions. */
import { figuresOf } from "../measure.mjs"

const quick = process.argv.includes("--quick") ? ["--quick"] : []

/** A case that is one program's run; its own rounds are inside it. `most` and `least` are the limits of its figures. */
const program = (name, title, [file, ...args], units, limits = {}, nodeArgs = []) => ({
  name,
  title,
  subjects: ["nimlet"],
  rounds: 1,
  warm: false,
  units,
  limits,
  run: () => figuresOf(file, args, nodeArgs)
})

const extension = (name, title, units, limits) => program(`extensions-${name}`, title, ["extension-cases.mjs", name, ...quick], units, limits, ["--expose-gc"])
const store = (name, title, units, limits) => program(`sessions-${name}`, title, ["sessions.mjs", "--json", title], units, limits)

export const hosts = [
  extension("start", "10 programs that register after 1 s", { ratio: "of bare pipes", hostMillis: "ms", stopMillis: "ms" }, { most: { ratio: 1.3, stopMillis: 4_500 } }),
  extension("fifty", "50 programs at once", { ratio: "of bare pipes", hostMillis: "ms", stopMillis: "ms" }, { most: { ratio: 1.3, stopMillis: 4_500 } }),
  extension("trip", "a call's two hooks through one program", { ratio: "of a bare pipe", hostMillis: "ms", addedMillis: "ms" }, { most: { ratio: 2 } }),
  extension("ten", "a call's two hooks through ten programs", { ratio: "of bare pipes", hostMillis: "ms", addedMillis: "ms" }, { most: { ratio: 2.25 } }),
  extension("updates", "200,000 updates by one, calls of another", { heldMillis: "ms", grownMiB: "MiB" }, { most: { heldMillis: 50, grownMiB: 64 } }),
  extension("line", "a line of 200 MiB by one, calls of another", { heldMillis: "ms", grownMiB: "MiB" }, { most: { heldMillis: 50, grownMiB: 64 } }),
  extension("floods", "2 s of each kind of line nobody waits for", { heldMillis: "ms", grownMiB: "MiB" }, { most: { heldMillis: 50, grownMiB: 64 } }),
  extension("asks", "asks of an actor in memory", { perSecond: "a second" }, { least: { perSecond: 30_000 } }),
  program("workers", "modules on worker threads", ["workers.ts"], {
    javascript: "ms", typescript: "ms", ten: "ms", megabytes: "MB each", perCall: "ms", sdk: "ms", sdkMegabytes: "MB each"
  }, { most: { javascript: 60, typescript: 110, ten: 600, megabytes: 28, perCall: 1.5, sdk: 200, sdkMegabytes: 60 } }),
  store("resume", "resume 20,000 entries", { ms: "ms", cpu: "ms", rss: "MiB" }, { most: { ms: 400 } }),
  store("resume-long", "resume 50,000 entries, 200 MB", { ms: "ms", cpu: "ms", rss: "MiB" }, { most: { ms: 3_000, rss: 600 } }),
  store("list", "list 500 sessions", { ms: "ms", cpu: "ms", rss: "MiB" }, { most: { ms: 300 } }),
  store("append", "append to 50,000 entries", { ms: "ms" }, { most: { ms: 1 } }),
  program("kills", "50 runs of a session killed at random moments", ["kills.mjs", "--json", ...(quick.length > 0 ? ["-n", "10"] : [])], { killed: "runs", problems: "problems" }, { most: { problems: 0 } }),
  program("terminal", "the screen", ["terminal.mjs", ...(quick.length > 0 ? ["--rounds", "3", "--turns", "100"] : [])], {
    frame: "ms after a bare Node", echo: "ms", echo95: "ms", besideSpinner95: "ms", loudEcho: "ms", loudEcho95: "ms", loudSpinner95: "ms",
    idle: "%", streaming: "%", memory: "MB", heapGrown: "MB"
  }, { most: { frame: 150, echo95: 16, besideSpinner95: 16, loudEcho95: 16, loudSpinner95: 16, idle: 1, heapGrown: 8 } }),
  program("scale", "many sessions in one process", ["scale.ts", ...quick], {
    idle: "KiB a session", active: "KiB a session", activeWall: "ms"
  })
]
