/**
 * `kill -9` at random moments of one session's turns: what is lost, done twice, or refused by a strict provider. See ../README.md.
 *
 *     node test/bench/programs/kills.mjs [-n KILLS] [--seed N] [--json]
 */
import { killRuns } from "../../kit/Kills.ts"
import { startModelStub } from "../../kit/ModelStub.ts"
import { makeWorkspace } from "../../kit/Workspace.ts"

const options = { kills: 50, seed: Date.now() >>> 0, json: false }
const rest = process.argv.slice(2)
while (rest.length > 0) {
  const word = rest.shift()
  if (word === "-n" && Number(rest[0]) > 0) options.kills = Number(rest.shift())
  else if (word === "--seed" && Number.isInteger(Number(rest[0]))) options.seed = Number(rest.shift())
  else if (word === "--json") options.json = true
  else {
    process.stderr.write("usage: kills [-n KILLS] [--seed N] [--json]\n")
    process.exit(2)
  }
}

await using stub = await startModelStub([])
await using space = await makeWorkspace()
const { killed, problems } = await killRuns(options.kills, options.seed, stub, space)
console.log(options.json
  ? JSON.stringify({ killed, problems: problems.length })
  : `seed ${options.seed}: ${killed} of ${options.kills} runs were killed before their end, ${problems.length} problems`)
for (const problem of problems) process.stderr.write(`bench: seed ${options.seed}: ${problem}\n`)
if (problems.length > 0 && !options.json) process.exitCode = 1
