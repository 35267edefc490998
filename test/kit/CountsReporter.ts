/** Ends a test run with the one line that people and machines count by, and fails it when a statement was to be proven and was not. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Reporter, TestModule, TestSpecification, Vitest } from "vitest/node"
import { outcomeOf, unproven } from "./Claims.ts"

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

/** Prints `N passed, N failed`, bare and alone on the last line of the run; a claim that was not proven is a failure, too. */
export class CountsReporter implements Reporter {
  #vitest: Vitest | undefined
  #scheduled: ReadonlyArray<TestSpecification> = []

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestRunStart(specifications: ReadonlyArray<TestSpecification>): void {
    this.#scheduled = specifications
  }

  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandled: ReadonlyArray<unknown>): void {
    const { passed, failed } = countRun(modules, unhandled)
    const problems = this.#unproven(modules)
    for (const problem of problems) process.stdout.write(`\nnot proven: ${problem}\n`)
    if (problems.length > 0) process.exitCode = 1
    process.stdout.write(`\n${passed} passed, ${failed + problems.length} failed\n`)
  }

  /** Whoever asks for some tests by name leaves the others out on purpose. */
  #unproven(modules: ReadonlyArray<TestModule>): ReadonlyArray<string> {
    const { config } = this.#vitest ?? {}
    if (config === undefined || config.testNamePattern !== undefined) return []
    const relative = (path: string) => path.replaceAll("\\", "/").replace(`${config.root.replaceAll("\\", "/")}/`, "")
    return unproven(
      readFileSync(join(config.root, "test/conformance.md"), "utf8"),
      this.#scheduled.map(({ moduleId }) => relative(moduleId)),
      new Map(modules.map((module) => [relative(module.moduleId), outcomeOf(module)]))
    )
  }
}
