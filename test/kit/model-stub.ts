/**
 * The model stub as a process of its own:
 *
 *     node test/kit/model-stub.ts [--scenario FILE] [--port N] [--port-file FILE] [--log FILE] [--until-stdin-ends]
 *
 * It prints its address, writes its port to a file and one JSON line an answered request to the log. It ends on SIGTERM,
 * SIGINT or, when asked, with its stdin, so that it never outlives the one who started it.
 */
import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { startModelStub } from "./ModelStub.ts"
import type { Scenario } from "./Scenario.ts"

const { values } = parseArgs({
  options: {
    scenario: { type: "string" },
    port: { type: "string", default: "0" },
    "port-file": { type: "string" },
    log: { type: "string" },
    "until-stdin-ends": { type: "boolean", default: false }
  }
})
const { log, scenario } = values
const stub = await startModelStub(
  scenario === undefined ? [{ text: "Done.", repeat: "always" }] : JSON.parse(readFileSync(scenario, "utf8")) as Scenario,
  {
    port: Number(values.port),
    ...(log === undefined ? {} : { onEnd: (request) => appendFileSync(log, `${JSON.stringify({ ...request, stamps: undefined })}\n`) })
  }
)
const portFile = values["port-file"]
if (portFile !== undefined) {
  writeFileSync(`${portFile}.new`, String(stub.port))
  renameSync(`${portFile}.new`, portFile)
}
console.log(JSON.stringify({ url: stub.url, port: stub.port, pid: process.pid }))
const stop = () => void stub.close().then(() => process.exit(0))
process.once("SIGTERM", stop).once("SIGINT", stop)
if (values["until-stdin-ends"]) process.stdin.on("end", stop).on("error", stop).resume()
