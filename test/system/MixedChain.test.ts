/** One call through extensions in Python, of the SDK and of the pi API, some slow: the order of their start decides. */
import { Effect } from "effect"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { withWorld } from "../kit/PiWorld.ts"

const python = `#!/usr/bin/env python3
import json, sys, time
print(json.dumps({"type": "register", "commands": [], "events": ["tool_call"]}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] != "event": continue
    arguments = message["payload"]["arguments"]
    if arguments["n"] % 3 == 0: time.sleep(0.004)
    arguments["chain"] += "-python"
    print(json.dumps({"type": "response", "id": message["id"], "arguments": arguments}), flush=True)
`
const typescript = (name: string, delay: string) => `export default (pi) => {
  pi.on("tool_call", async (event: any) => { ${delay}; event.input.chain += "-${name}" })
  pi.on("tool_call", (event: any) => { event.input.chain += "-${name}2" })
}`
const sdk = `import { Extension } from "@nimlet/sdk"
import { Effect } from "effect"
export default Extension.define({
  name: "typed",
  hooks: {
    tool_call: ({ arguments: args }) =>
      Effect.as(args.n % 5 === 0 ? Effect.sleep("3 millis") : Effect.void, { arguments: { ...args, chain: args.chain + "-sdk" } })
  }
})
`

describe("a mixed chain", () => {
  it("rewrites one call in the order of the start, whatever the speed, a hundred times", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mixed-chain-"))
    try {
      mkdirSync(join(folder, "middle"))
      writeFileSync(join(folder, "middle/extension.json"), JSON.stringify({ name: "middle", command: ["./main.py"] }))
      writeFileSync(join(folder, "middle/main.py"), python)
      chmodSync(join(folder, "middle/main.py"), 0o755)
      writeFileSync(join(folder, "slow.ts"), typescript("slow", "if (event.input.n % 2 === 0) await new Promise((done) => setTimeout(done, 5))"))
      writeFileSync(join(folder, "quick.ts"), typescript("quick", ""))
      writeFileSync(join(folder, "typed.ts"), sdk)
      const paths = ["slow.ts", "middle", "typed.ts", "quick.ts"].map((name) => join(folder, name))
      await withWorld({ paths }, (world) => Effect.gen(function*() {
        expect(world.report.started).toEqual(["slow", "middle", "typed", "quick"])
        for (let n = 0; n < 100; n++) {
          const { changedBy, payload } = yield* world.fire("tool_call", { tool: "t", arguments: { n, chain: "" } })
          expect([payload.arguments.chain, changedBy]).toEqual(["-slow-slow2-python-sdk-quick-quick2", ["slow", "middle", "typed", "quick"]])
        }
      }))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
