import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { checkRecords } from "@nimlet/protocol"
import { lastingSurvivors, makeWorkspace, records } from "../kit/Workspace.ts"

const sdk = join(import.meta.dirname, "../../packages/sdk/src/index.ts")
const effect = import.meta.resolve("effect")
const json = ["--mode", "json", "--provider", "offline"]

/** One extension, whichever way its imports are found. */
const definition = (imports: { readonly sdk: string; readonly effect: string }) => `
import { Extension } from ${JSON.stringify(imports.sdk)}
import { Effect, Schema } from ${JSON.stringify(imports.effect)}
export default Extension.define({
  name: "twice",
  tools: {
    double: {
      description: "Doubles a number.",
      input: Schema.Struct({ n: Schema.Finite }),
      capabilities: ["read"],
      run: ({ n }, { progress }) => Effect.as(progress("hm\\n"), { content: String(2 * n), details: { n } })
    }
  },
  commands: { shout: { run: async (text) => { console.log("shouting"); return text.toUpperCase() } } },
  hooks: {
    tool_call: async ({ arguments: args, tool }) =>
      tool === "bash" && String(args["command"]).includes("curl") ? { allow: false, reason: "no network" } : undefined
  }
})
`

describe("an extension of the SDK", () => {
  it.each(["as a module on a thread", "as a program over standard input and output"])("works %s, from one definition", async (how) => {
    await using space = await makeWorkspace()
    if (how.startsWith("as a module")) {
      await space.file("~/.nimlet/extensions/twice.ts", definition({ sdk: "@nimlet/sdk", effect: "effect" }))
    } else {
      const main = `#!/usr/bin/env node\nimport { Extension } from ${JSON.stringify(sdk)}\nimport twice from "./twice.ts"\nawait Extension.serve(twice)\n`
      await space.extension("twice", { manifest: { name: "twice", command: ["./main.ts"] }, files: { "main.ts": main, "twice.ts": definition({ sdk, effect }) } })
    }
    const tool = await space.nimlet([...json, "call double {\"n\": 21}"])
    const all = records(tool.stdout)
    expect(checkRecords(all)).toEqual([])
    expect(all.filter(({ type }) => type === "diagnostic")).toEqual([])
    expect(all.find(({ type }) => type === "tool_output_delta")?.delta).toBe("hm\n")
    expect(all.find(({ type }) => type === "tool_result")).toMatchObject({ is_error: false, output: "42" })
    const blocked = await space.nimlet([...json, "run: curl x"])
    expect(records(blocked.stdout).find(({ type }) => type === "tool_result")).toMatchObject({ is_error: true, output: "approval_denied: no network" })
    const command = await space.nimlet(["-p", "--provider", "offline", "/shout hi"])
    expect(command.stdout).toBe("HI\n")
    expect(readFileSync(join(space.home, ".nimlet/logs/twice.log"), "utf8")).toContain("shouting")
    expect(await lastingSurvivors(space.root)).toEqual([])
  })
})
