/** Holds `test/conformance.md` to the tests it names: a claim without a test that quotes its id fails, and so does the reverse. */
import { spawnSync } from "node:child_process"
import { globSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { testFiles } from "../vitest.workspace.ts"
import { rowsOf, unproven } from "./kit/Claims.ts"

/** What there is to state: the letter of a document, and how many statements it has. */
type Series = ReadonlyArray<readonly [letter: string, count: number]>

const series: Series = [["E", 315], ["X", 99], ["J", 91], ["A", 290]]

const idOf = (letter: string, number: number) => `${letter}-${String(number).padStart(3, "0")}`

/** All that is wrong between a list and the test files (path → text), one sentence each. Pure. */
const problemsOf = (list: string, tests: ReadonlyMap<string, string>, expected: Series): ReadonlyArray<string> => {
  const rows = rowsOf(list)
  const ids = expected.flatMap(([letter, count]) => Array.from({ length: count }, (_, k) => idOf(letter, k + 1)))
  const at = Array.from({ length: Math.max(ids.length, rows.length) }, (_, k) => k).find((k) => rows[k]?.id !== ids[k])
  const order = at === undefined ? [] : [`row ${at + 1} is ${rows[at]?.id ?? "missing"}, not ${ids[at] ?? "the end"}`]
  const letters = expected.map(([letter]) => letter).join("")
  const quoted = new Map([...tests].map(([path, text]) => [path, new Set(text.match(new RegExp(`\\b[${letters}]-\\d{3}\\b`, "g")))]))
  const claims = rows.flatMap(({ files, id }) =>
    files.flatMap((file) => {
      const has = quoted.get(file)
      if (has === undefined) return [`${id} names ${JSON.stringify(file)}, which is no test file`]
      return has.has(id) ? [] : [`${id} names ${file}, which does not quote it`]
    })
  )
  const named = new Map(rows.map(({ files, id }) => [id, files]))
  const quotes = [...quoted].flatMap(([path, has]) => [...has].filter((id) => named.get(id)?.includes(path) !== true).map((id) => `${path} quotes ${id}, whose row does not name it`))
  return [...order, ...claims, ...quotes]
}

describe("the list of statements", () => {
  it("has every id once and in order, and names exactly the tests that quote it", () => {
    const root = join(import.meta.dirname, "..")
    const paths = globSync(Object.values(testFiles).flat(), { cwd: root })
    const tests = new Map(paths.map((path) => [path.replaceAll("\\", "/"), readFileSync(join(root, path), "utf8")]))
    expect(problemsOf(readFileSync(join(import.meta.dirname, "conformance.md"), "utf8"), tests, series)).toEqual([])
  })
})

describe("its checker", () => {
  const [one, two] = [idOf("Z", 1), idOf("Z", 2)]
  const list = (...rows: ReadonlyArray<readonly [id: string, cell: string]>) =>
    `# List\n\n| id | what must hold | test |\n| --- | --- | --- |\n${rows.map(([id, cell]) => `| ${id} | It \`a | b\` holds | ${cell} |\n`).join("")}`
  const tests = new Map([["a.test.ts", `// ${one}\nit("works")`], ["b.test.ts", ""]])
  const check = (...rows: ReadonlyArray<readonly [id: string, cell: string]>) => problemsOf(list(...rows), tests, [["Z", 2]])

  it("finds nothing in a list that is right", () => {
    expect(check([one, "a.test.ts"], [two, "open"])).toEqual([])
  })

  it.each([
    ["missing", [[one, "a.test.ts"]], "row 2 is missing, not Z-002"],
    ["out of order", [[two, "open"], [one, "a.test.ts"]], "row 1 is Z-002, not Z-001"],
    ["there twice", [[one, "a.test.ts"], [one, "a.test.ts"], [two, "open"]], "row 2 is Z-001, not Z-002"],
    ["too many", [[one, "a.test.ts"], [two, "open"], [idOf("Z", 3), "open"]], "row 3 is Z-003, not the end"]
  ] as const)("finds a row that is %s", (_, rows, problem) => {
    expect(check(...rows)).toContain(problem)
  })

  it("finds a file that does not exist, an empty cell, and a file that does not quote the id", () => {
    expect(check([one, "a.test.ts, gone.test.ts"], [two, ""])).toEqual([`${one} names "gone.test.ts", which is no test file`, `${two} names "", which is no test file`])
    expect(check([one, "a.test.ts"], [two, "b.test.ts"])).toEqual([`${two} names b.test.ts, which does not quote it`])
  })

  it("finds a quote whose row does not name the file", () => {
    expect(check([one, "open"], [two, "open"])).toEqual([`a.test.ts quotes ${one}, whose row does not name it`])
  })

  it("finds a named file that was to be run and was not run whole, and asks nothing of the others", () => {
    const named = list([one, "a.test.ts, b.test.ts, c.test.ts, d.test.ts, other.test.ts"], [two, "a.test.ts"])
    const outcomes = new Map([["a.test.ts", { ran: 0, skipped: 3 }], ["b.test.ts", { ran: 2, skipped: 1 }], ["c.test.ts", { ran: 2, skipped: 0 }], ["e.test.ts", { ran: 0, skipped: 1 }]])
    expect(unproven(named, ["a.test.ts", "b.test.ts", "c.test.ts", "d.test.ts", "e.test.ts"], outcomes)).toEqual([
      `a.test.ts is to prove ${one} and 1 more, and none of its tests ran`,
      `b.test.ts is to prove ${one}, and 1 of its tests did not run`,
      `d.test.ts is to prove ${one}, and none of its tests ran`
    ])
  })

  it("fails a run of vitest in which such a file has a test that is left out", () => {
    const folder = mkdtempSync(join(tmpdir(), "claims-"))
    mkdirSync(join(folder, "test"))
    const root = join(import.meta.dirname, "..")
    writeFileSync(join(folder, "vitest.config.ts"), `import { CountsReporter } from ${JSON.stringify(join(root, "test/kit/CountsReporter.ts"))}\nexport default { test: { globals: true, reporters: [new CountsReporter()] } }\n`)
    writeFileSync(join(folder, "test/conformance.md"), list([one, "test/a.test.ts"]))
    const run = (text: string, ...args: ReadonlyArray<string>) => {
      writeFileSync(join(folder, "test/a.test.ts"), text)
      const { status, stdout } = spawnSync(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), "--run", ...args], { cwd: folder, encoding: "utf8" })
      return { status, last: stdout.trim().split("\n").at(-1), told: stdout.includes("not proven: test/a.test.ts") }
    }
    expect(run("it('x', () => {})")).toEqual({ status: 0, last: "1 passed, 0 failed", told: false })
    expect(run("it('x', () => {})\nit.skip('y', () => {})")).toEqual({ status: 1, last: "1 passed, 1 failed", told: true })
    expect(run("it('x', () => {})\nit('y', () => {})", "-t", "x")).toEqual({ status: 0, last: "1 passed, 0 failed", told: false })
  })
})
