/** Which statements of `test/conformance.md` a run of tests was to prove and did not, because the tests did not run. */
import type { TestModule } from "vitest/node"

/** The rows of the tables: id, and the files of the last cell; `open` is none. Pure. */
export const rowsOf = (list: string): ReadonlyArray<{ readonly id: string; readonly files: ReadonlyArray<string> }> =>
  list.split("\n").flatMap((line) => {
    const [, id, , cell] = /^\| ([A-Z]-\d+) \| (.+) \| (.*) \|$/.exec(line) ?? []
    return id === undefined || cell === undefined ? [] : [{ id, files: cell === "open" ? [] : cell.split(", ") }]
  })

/** What came of a test file: how many of its tests passed and failed, and how many were left out. */
export interface FileOutcome {
  readonly ran: number
  readonly skipped: number
}

/** The outcome of a file. */
export const outcomeOf = (module: TestModule): FileOutcome => {
  const states = [...module.children.allTests()].map((test) => test.result().state)
  return { ran: states.filter((state) => state === "passed" || state === "failed").length, skipped: states.filter((state) => state === "skipped").length }
}

/**
 * A sentence for each file that is named by a row, was to be run, and was not run whole. `scheduled` are the files that the run began
 * with; `outcomes` those that came to an end. Paths are relative to the root, with slashes. Pure.
 */
export const unproven = (
  list: string,
  scheduled: ReadonlyArray<string>,
  outcomes: ReadonlyMap<string, FileOutcome>
): ReadonlyArray<string> => {
  const claims = new Map<string, Array<string>>()
  for (const { files, id } of rowsOf(list)) for (const file of files) claims.set(file, [...claims.get(file) ?? [], id])
  return scheduled.flatMap((file) => {
    const ids = claims.get(file)
    if (ids === undefined) return []
    const { ran, skipped } = outcomes.get(file) ?? { ran: 0, skipped: 0 }
    const what = ran === 0 ? "none of its tests ran" : skipped > 0 ? `${skipped} of its tests did not run` : undefined
    return what === undefined ? [] : [`${file} is to prove ${ids.length === 1 ? ids[0] : `${ids[0]} and ${ids.length - 1} more`}, and ${what}`]
  })
}
