/** `kill -9` in the middle of a large write: the old file is whole, and what is left of the new one does not pile up. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { afterEach, beforeEach, describe, expect, it } from "vitest"

const root = join(import.meta.dirname, "../..")
const size = 200 * 1024 * 1024

/** Writes that many bytes with the tool `write`, as the model would. */
const writing = (folder: string, bytes: number) =>
  spawn(process.execPath, ["--input-type=module", "-e", `
    import * as NodeServices from "@effect/platform-node/NodeServices"
    import { Effect } from "effect"
    import { layerLocal, localTools, writeTool } from "@nimlet/tools"
    const write = Effect.gen(function*() {
      const [tool] = yield* localTools([writeTool])
      const { isError } = yield* tool.run({ path: "big", content: "n".repeat(${bytes}), overwrite: true }, { output: () => Effect.void })
      process.exitCode = isError ? 1 : 0
    })
    await Effect.runPromise(write.pipe(Effect.provide(layerLocal({ workspace: ${JSON.stringify(folder)} })), Effect.provide(NodeServices.layer)))
  `], { cwd: root, stdio: ["ignore", "ignore", "inherit"] })

describe("a process that is killed while it writes a file of 200 MB", () => {
  let folder = ""
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "nimlet-atomic-")))
    writeFileSync(join(folder, "big"), "old")
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  const drafts = () => readdirSync(folder).filter((name) => name !== "big")

  it("leaves the old file whole, and the next write there takes away what it left", { timeout: 120_000 }, async () => {
    for (const round of [1, 2, 3]) {
      const child = writing(folder, size)
      const gone = once(child, "exit")
      const earlier = new Set(drafts())
      const half = () => drafts().some((name) => !earlier.has(name) && (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0) > 1024 * 1024)
      while (child.exitCode === null && !half()) await setImmediate()
      child.kill("SIGKILL")
      expect([round, (await gone)[1]]).toEqual([round, "SIGKILL"])
      expect([round, readFileSync(join(folder, "big"), "utf8")]).toEqual([round, "old"])
      expect(drafts(), `round ${round}`).toHaveLength(1)
    }
    const [code] = await once(writing(folder, 5), "exit")
    expect([code, readFileSync(join(folder, "big"), "utf8"), drafts()]).toEqual([0, "nnnnn", []])
  })
})
