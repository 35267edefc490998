/** `kill -9` at any moment: what was finished is kept, nothing is done twice, and a strict provider takes what is left. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { startModelStub } from "../kit/ModelStub.ts"
import type { Scenario } from "../kit/Scenario.ts"
import { lastingSurvivors, makeWorkspace, startNimlet, type Workspace } from "../kit/Workspace.ts"

const kills = 10

/** A turn of three steps with calls beside each other, each of which leaves a mark of its own where it runs. */
const turn = (round: number): Scenario => [
  { text: `Round ${round}: I look around first.`, tools: [{ name: "read", args: { path: "a.txt" } }, { name: "read", args: { path: "b.txt" } }, { name: "grep", args: { pattern: "a" } }], pauseMs: 3 },
  {
    thinking: "both at once",
    tools: [
      { name: "bash", args: { command: `echo ${round}.1 >> log.txt` } }, { name: "read", args: { path: "a.txt" } }, { name: "read", args: { path: "b.txt" } },
      { name: "bash", args: { command: `echo ${round}.2 >> log.txt; echo begun; sleep 0.2` } }
    ],
    pauseMs: 3
  },
  { tools: [{ name: "write", args: { path: `out-${round}.txt`, content: `${round}` } }, { name: "bash", args: { command: `echo ${round}.3 >> log.txt` } }], pauseMs: 2 },
  { text: `Round ${round} is done.`, pauseMs: 2 }
]

/** Numbers from 0 up to 1, the same for the same seed. */
const randomOf = (seed: number) => () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

const wholeLines = (text: string) => text.slice(0, text.lastIndexOf("\n") + 1).split("\n").filter((line) => line !== "")
const allOf = (stdout: string) => wholeLines(stdout).map((line) => JSON.parse(line) as Record<string, any>)
const recordsOf = (stdout: string) => allOf(stdout).filter(({ type }) => !String(type).endsWith("_delta"))
const isWithin = (stdout: string) => allOf(stdout).some(({ delta, type }) => type === "tool_output_delta" && delta.includes("begun"))
const entriesOf = ({ home }: Workspace) => {
  const folder = join(home, ".nimlet/sessions")
  if (!existsSync(folder)) return []
  const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl"))
  expect(files.length).toBeLessThanOrEqual(1)
  return files.flatMap((name) => wholeLines(readFileSync(join(folder, name), "utf8")).flatMap((line) => {
    try {
      return [JSON.parse(line) as Record<string, any>]
    } catch {
      return []
    }
  }))
}
const resultsIn = (records: ReadonlyArray<Record<string, any>>) => records.flatMap(({ id, tool_id, type }) => type === "tool_result" ? [String(tool_id ?? id)] : [])

describe("a run that is killed", () => {
  it(`${kills} times in one session, at any moment, loses nothing that was finished, repeats nothing, and is gone on with`, { timeout: 180_000 }, async () => {
    const seed = Date.now() >>> 0
    const random = randomOf(seed)
    await using stub = await startModelStub([])
    await using space = await makeWorkspace()
    await space.file("a.txt", "alpha\n")
    await space.file("b.txt", "beta\n")
    const env = { ANTHROPIC_BASE_URL: stub.url, ANTHROPIC_API_KEY: "k" }
    const start = (round: number) => {
      stub.setScenario(turn(round))
      return startNimlet({ args: ["--mode", "json", "--provider", "anthropic", "--model", "m", "--resume", `Do round ${round}`], cwd: space.work, home: space.home, env })
    }

    const whole = await start(0).ended
    expect(whole.code).toBe(0)
    const landmarks = recordsOf(whole.stdout).length

    let killed = 0
    for (let round = 1; round <= kills; round++) {
      const run = start(round)
      // The first one in the middle of a command, to be sure that there is such a kill.
      const after = Math.floor(random() * landmarks)
      await run.until((stdout) => round === 1 ? isWithin(stdout) : recordsOf(stdout).length >= after)
      if (round > 1) await setTimeout(random() * 100)
      run.signal("SIGKILL")
      const { signal, stdout } = await run.ended
      killed += signal === "SIGKILL" ? 1 : 0
      const told = recordsOf(stdout)
      const kept = entriesOf(space)
      // Whatever was told is on the disk.
      expect(resultsIn(kept), `seed ${seed}, round ${round}`).toEqual(expect.arrayContaining(resultsIn(told)))
      const answers = kept.filter(({ type }) => type === "assistant").map(({ content }) => content.flatMap((part: any) => part.type === "text" ? [part.text] : []).join("\n"))
      for (const { content, role, type } of told) if (type === "message" && role === "assistant") expect(answers, `seed ${seed}, round ${round}`).toContain(content)
    }
    expect(killed, `seed ${seed}`).toBeGreaterThan(kills / 2)
    expect(await lastingSurvivors(space.work)).toEqual([])

    const last = await start(kills + 1).ended
    expect([last.code, last.stderr], `seed ${seed}`).toEqual([0, ""])
    // The stub refuses a history with a call without its one result; it saw every one that the kills left.
    expect(stub.requests.flatMap(({ problem }) => problem === undefined ? [] : [problem]), `seed ${seed}`).toEqual([])
    const entries = entriesOf(space)
    const ids = resultsIn(entries)
    expect(new Set(ids).size, `seed ${seed}`).toBe(ids.length)

    const marks = readFileSync(join(space.work, "log.txt"), "utf8").trim().split("\n")
    expect(new Set(marks).size, `seed ${seed}: ${marks.join(" ")}`).toBe(marks.length)
    // What ran and has no result of its own is not passed over: the model is told that its outcome is unknown.
    for (const mark of marks) {
      const call = entries.flatMap(({ content, type }) => type === "assistant" ? content : []).find((part: any) => part.type === "tool_use" && part.input.command?.startsWith(`echo ${mark} `))
      expect(ids, `seed ${seed}, mark ${mark}`).toContain(call.id)
    }
  })
})
