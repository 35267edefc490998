/**
 * The processes that come from us, as Linux shows them in `/proc`; elsewhere none are known. Looked for without waiting, since the
 * process that asks ends with the answer.
 */
import { readdirSync, readFileSync } from "node:fs"

const text = (pid: number, name: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1")
  } catch {
    // It has ended, or is somebody else's.
    return ""
  }
}

const pids = (): ReadonlyArray<number> => {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number)
  } catch {
    return []
  }
}

/** The parent in the text of `stat`: the second field after the name, which may hold blanks and parentheses. */
const parentOf = (stat: string): number => Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])

/** All that descend from `self`, and those whose environment has an entry that begins with one of `marks`, with what descends from them. */
export const ownProcesses = (self: number, marks: ReadonlySet<string>): ReadonlyArray<number> => {
  const all = pids().filter((pid) => pid !== self)
  const children = Map.groupBy(all, (pid) => parentOf(text(pid, "stat")))
  const isMarked = (pid: number) => {
    const environment = marks.size === 0 ? "" : `\0${text(pid, "environ")}`
    return [...marks].some((mark) => environment.includes(`\0${mark}`))
  }
  const found = new Set<number>()
  const add = (pid: number): void => {
    if (found.has(pid)) return
    found.add(pid)
    for (const child of children.get(pid) ?? []) add(child)
  }
  for (const pid of [...children.get(self) ?? [], ...all.filter(isMarked)]) add(pid)
  return [...found]
}
