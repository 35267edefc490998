import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { modelLimits } from "../src/Output.ts"
import { makeRecorder } from "../src/Recorder.ts"

const MIB = 1024 * 1024
const chunk = (size: number) => new Uint8Array(size).fill(120)

describe("Recorder", () => {
  it.effect("the file keeps the first 64 MiB, and the note says of how many", () =>
    Effect.gen(function*() {
      let kept = 0
      const spill = Effect.succeed({ path: "/spill", append: (bytes: Uint8Array) => Effect.sync(() => { kept += bytes.length }) })
      const recorder = yield* makeRecorder({ spill, live: () => Effect.void, limits: modelLimits })
      for (let i = 0; i < 70; i++) yield* recorder.take("stdout", chunk(MIB))
      assert.strictEqual(kept, 64 * MIB)
      assert.deepStrictEqual(recorder.report().notes, [`[cut; the first ${64 * MIB} of ${70 * MIB} bytes are in /spill; look into it with bash]`])
    }))
})
