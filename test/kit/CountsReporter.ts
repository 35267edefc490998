/** Ends a test run with the one line that people and machines count by. */
import type { Reporter, TestModule } from "vitest/node"

/** How many tests ended well and how many did not. */
export interface Counts {
  readonly passed: number
  readonly failed: number
}

/**
 * Counts a run. A file or a suite that failed by itself (it did not load, a hook threw) counts as one failure, and so does
 * every error outside a test: nothing that makes the run fail may leave the count at zero.
 */
export const countRun = (modules: ReadonlyArray<TestModule>, unhandled: ReadonlyArray<unknown>): Counts => {
  let passed = 0
  let failed = unhandled.length
  for (const module of modules) {
    failed += module.errors().length > 0 ? 1 : 0
    for (const suite of module.children.allSuites()) failed += suite.errors().length > 0 ? 1 : 0
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      if (state === "passed") passed++
      if (state === "failed") failed++
    }
  }
  return { passed, failed }
}

/** Prints `N passed, N failed`, bare and alone on the last line of the run. */
export class CountsReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandled: ReadonlyArray<unknown>): void {
    const { passed, failed } = countRun(modules, unhandled)
    process.stdout.write(`\n${passed} passed, ${failed} failed\n`)
  }
}
