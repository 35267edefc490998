// Loaded into every measured Node process by NODE_OPTIONS: at its exit it leaves what it used, one file a process.
// So the sums hold child processes too, and nothing has to be installed. CPU in milliseconds, memory in MiB.
const { writeFileSync } = require("node:fs")
const { isMainThread } = require("node:worker_threads")

const folder = process.env.BENCH_USAGE
if (isMainThread && folder !== undefined) {
  process.on("exit", () => {
    const { maxRSS, systemCPUTime, userCPUTime } = process.resourceUsage()
    writeFileSync(`${folder}/${process.pid}.json`, JSON.stringify({ cpu: (userCPUTime + systemCPUTime) / 1000, rss: maxRSS / 1024 }))
  })
}
