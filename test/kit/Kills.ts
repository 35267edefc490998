/**
 * Runs of one session that are killed at random moments of turns with calls beside each other: what was told or done and is
 * not in the session afterwards is a problem, and so is what was done twice or what a strict provider refuses.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import type { ModelStub } from "./ModelStub.ts"
import { sessionFiles } from "./SavedSessions.ts"
import type { Scenario } from "./Scenario.ts"
import { lastingSurvivors, startNimlet, type Workspace } from "./Workspace.ts"

/** A record or an entry, as JSON has it. */
export type Value = Record<string, any>

/** What came of the runs: how many were killed before their end, and what went wrong, in words. */
export interface KillReport {
  readonly killed: number
  readonly problems: ReadonlyArray<string>
}

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
const allOf = (stdout: string) => wholeLines(stdout).map((line) => JSON.parse(line) as Value)
const recordsOf = (stdout: string) => allOf(stdout).filter(({ type }) => !String(type).endsWith("_delta"))
const isWithin = (stdout: string) => allOf(stdout).some(({ delta, type }) => type === "tool_output_delta" && delta.includes("begun"))
const resultsIn = (values: ReadonlyArray<Value>) => values.flatMap(({ id, tool_id, type }) => type === "tool_result" ? [String(tool_id ?? id)] : [])

/** The entries of the whole lines of a session file, those that are JSON. */
export const entriesOf = (file: string): ReadonlyArray<Value> =>
  wholeLines(readFileSync(file, "utf8")).flatMap((line) => {
    try {
      return [JSON.parse(line) as Value]
    } catch {
      return []
    }
  })

/** Kills so many runs of one session, the first in the middle of a command, and goes on with it in the end. */
export const killRuns = async (kills: number, seed: number, stub: ModelStub, space: Workspace): Promise<KillReport> => {
  const random = randomOf(seed)
  const problems: Array<string> = []
  await space.file("a.txt", "alpha\n")
  await space.file("b.txt", "beta\n")
  const env = { ANTHROPIC_BASE_URL: stub.url, ANTHROPIC_API_KEY: "k" }
  const start = (round: number) => {
    stub.setScenario(turn(round))
    return startNimlet({ args: ["--mode", "json", "--provider", "anthropic", "--model", "m", "--resume", `Do round ${round}`], cwd: space.work, home: space.home, env })
  }
  const kept = () => sessionFiles(space.home).flatMap(entriesOf)
  const watch = (round: number) => {
    for (const { problem } of stub.requests) if (problem !== undefined) problems.push(`round ${round}: the model refuses the history: ${problem}`)
  }

  const whole = await start(0).ended
  if (whole.code !== 0) problems.push(`the first run ended with ${whole.code}: ${whole.stderr}`)
  const landmarks = recordsOf(whole.stdout).length

  let killed = 0
  for (let round = 1; round <= kills; round++) {
    const run = start(round)
    const after = Math.floor(random() * landmarks)
    await run.until((stdout) => round === 1 ? isWithin(stdout) : recordsOf(stdout).length >= after)
    if (round > 1) await setTimeout(random() * 100)
    run.signal("SIGKILL")
    const { signal, stdout } = await run.ended
    killed += signal === "SIGKILL" ? 1 : 0
    watch(round)
    // Whatever was told is on the disk.
    const told = recordsOf(stdout)
    const entries = kept()
    const saved = new Set(resultsIn(entries))
    for (const id of resultsIn(told)) if (!saved.has(id)) problems.push(`round ${round}: the result of ${id} was told and is lost`)
    const answers = entries.filter(({ type }) => type === "assistant").map(({ content }) => content.flatMap((part: Value) => part["type"] === "text" ? [part["text"]] : []).join("\n"))
    for (const { content, role, type } of told) {
      if (type === "message" && role === "assistant" && !answers.includes(content)) problems.push(`round ${round}: an answer was told and is lost: ${content}`)
    }
  }
  const survivors = await lastingSurvivors(space.work)
  if (survivors.length > 0) problems.push(`processes outlive the kills: ${JSON.stringify(survivors)}`)

  const last = await start(kills + 1).ended
  watch(kills + 1)
  if (last.code !== 0 || last.stderr !== "") problems.push(`the last run ended with ${last.code}: ${last.stderr}`)
  if (sessionFiles(space.home).length !== 1) problems.push("there is more than one session")
  const entries = kept()
  const ids = resultsIn(entries)
  if (new Set(ids).size !== ids.length) problems.push("a call has two results")
  const marks = readFileSync(join(space.work, "log.txt"), "utf8").trim().split("\n")
  if (new Set(marks).size !== marks.length) problems.push(`something ran twice: ${marks.join(" ")}`)
  // What ran and has no result of its own is not passed over: the model is told that its outcome is unknown.
  for (const mark of marks) {
    const call = entries.flatMap(({ content, type }) => type === "assistant" ? content : []).find((part: Value) => part["type"] === "tool_use" && part["input"].command?.startsWith(`echo ${mark} `))
    if (call === undefined || !ids.includes(call.id)) problems.push(`what left the mark ${mark} has no result`)
  }
  return { killed, problems }
}
