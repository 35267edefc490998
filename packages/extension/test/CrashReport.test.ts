import { assert, describe, it } from "@effect/vitest"
import { Cause, Exit } from "effect"
import type { SupervisorEvent } from "@nimlet/actor"
import { crashReporter } from "../src/CrashReport.ts"
import { ExtensionCrashed, StartFailed } from "../src/ExtensionError.ts"

const crashed = (at: number): SupervisorEvent => ({
  _tag: "Crashed",
  child: "a",
  at,
  life: 1,
  cause: Cause.fail(new ExtensionCrashed({ extension: "a", reason: "exited with code 3" }))
})
const quarantined = (at: number): SupervisorEvent => ({ _tag: "Quarantined", child: "a", at })

describe("crashReporter", () => {
  it("tells the first crash of a run, and again after a minute of health", () => {
    const report = crashReporter()
    const text = "extension 'a' exited with code 3 unexpectedly"
    assert.deepStrictEqual([0, 10_000, 69_000, 129_000].map((at) => report(crashed(at))), [text, undefined, undefined, text])
  })

  it("tells the quarantine, with how it went", () => {
    const report = crashReporter()
    report(crashed(0))
    assert.strictEqual(
      report(quarantined(1)),
      "extension 'a' exited with code 3 too often and stays off until it is restarted by hand"
    )
  })

  it("leaves failed starts and ordinary ends to others", () => {
    const report = crashReporter()
    const cause = Cause.fail(new StartFailed({ extension: "a", reason: "no" }))
    assert.isUndefined(report({ _tag: "Crashed", child: "a", at: 0, life: 1, cause }))
    assert.isUndefined(report({ _tag: "Stopped", child: "a", at: 0, exit: Exit.void }))
  })
})
