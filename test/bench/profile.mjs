/** Where the processor's time of a case goes: V8's profile of a build with readable names, and a list of what took most. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { nimlet } from "./subjects.mjs"

const shown = 40

/** Which source file a line of a bundle comes from; the bundler says where each begins. */
const sourceOf = (folder) => {
  const starts = new Map()
  return (file, line) => {
    if (!starts.has(file)) {
      const lines = readFileSync(join(folder, file), "utf8").split("\n")
      starts.set(file, lines.flatMap((text, at) => {
        const path = /^\/\/ (\S+\.[cm]?[jt]s)$/.exec(text)?.[1]
        return path === undefined ? [] : [[at, path.replace(/^.*node_modules\//, "")]]
      }))
    }
    return starts.get(file).findLast(([at]) => at <= line)?.[1] ?? file
  }
}

/** Milliseconds that each function of a profile took itself, the longest first, by what `nameOf` calls its place. */
const selfTimes = ({ nodes, samples, timeDeltas }, nameOf) => {
  const byId = new Map(nodes.map((node) => [node.id, nameOf(node.callFrame)]))
  const times = new Map()
  samples.forEach((id, k) => times.set(byId.get(id), (times.get(byId.get(id)) ?? 0) + timeDeltas[k] / 1000))
  return [...times].sort((a, b) => b[1] - a[1])
}

const show = (times) => {
  const sum = times.reduce((total, [, ms]) => total + ms, 0)
  for (const [name, ms] of times.slice(0, shown)) console.log(`${ms.toFixed(1).padStart(8)} ms ${(ms / sum * 100).toFixed(1).padStart(5)} %  ${name}`)
}

/** Runs a case once to warm up and once under the profiler, and tells where the profile is. */
export const profile = async (one, { wire }, measure) => {
  const folder = mkdtempSync(join(tmpdir(), "nimlet-profile-"))
  const build = join(folder, "dist")
  execFileSync(process.execPath, [join(import.meta.dirname, "../../apps/cli/build.ts"), "--readable", "--out", build], { stdio: "inherit" })
  const profiles = join(folder, "profiles")
  const nodeArgs = ["--cpu-prof", "--cpu-prof-interval", "200", "--cpu-prof-dir", profiles]
  await measure(nimlet({ bin: join(build, "nimlet.mjs"), wire, nodeArgs }))
  // The largest is the one of the program itself, the last of them the one that was warm.
  const files = readdirSync(profiles).filter((file) => file.includes(".0.")).map((file) => join(profiles, file)).sort((a, b) => Number(a.split(".").at(-2)) - Number(b.split(".").at(-2)))
  const file = files.at(-1)
  const found = JSON.parse(readFileSync(file, "utf8"))
  const source = sourceOf(build)
  const placeOf = ({ lineNumber, url }) => url.startsWith(`file://${build}`) ? source(basename(url), lineNumber) : url.startsWith("node:") ? url : ""
  console.log(`${one.title}: ${file}\n\nby file`)
  show(selfTimes(found, (frame) => placeOf(frame) || frame.functionName))
  console.log("\nby function")
  show(selfTimes(found, (frame) => `${frame.functionName || "(anonymous)"} ${placeOf(frame)}${frame.url === "" ? "" : `:${frame.lineNumber + 1}`}`))
  for (const other of files.slice(0, -1)) rmSync(other)
}
