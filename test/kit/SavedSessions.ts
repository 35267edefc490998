/** What a home keeps of sessions, checked as `nimlet replay` checks it, without a process for each file. */
import { checkEntries } from "@nimlet/protocol"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** The files of the sessions of a home. */
export const sessionFiles = (home: string): ReadonlyArray<string> => {
  const folder = join(home, ".nimlet/sessions")
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".jsonl")).map((name) => join(folder, name)) : []
}

/** What is wrong with the sessions of a home, a sentence each. Throws where a line is no JSON or the last one has no end. */
export const sessionProblems = (home: string): ReadonlyArray<string> =>
  sessionFiles(home).flatMap((file) => {
    const text = readFileSync(file, "utf8")
    if (!text.endsWith("\n")) throw new Error(`${file} ends within a line`)
    const [header, ...entries] = text.slice(0, -1).split("\n").map((line) => JSON.parse(line))
    const headed = header.type === "session" ? [] : ["it does not begin with its header"]
    return [...headed, ...checkEntries(entries).map(({ index, problem }) => `${index + 2}: ${problem}`)].map((problem) => `${file}: ${problem}`)
  })
