/** Programs that a worker has started: they outlive its thread, and one it waits for keeps the thread from ending. */
// Signals have no Effect service.
import { readdirSync, readFileSync } from "node:fs"
import nodeProcess from "node:process"

const childrenIn = (file: string): ReadonlyArray<number> => {
  try {
    return readFileSync(file, "utf8").split(" ").map(Number).filter((pid) => pid > 0)
  } catch {
    // No such thread or process any more, or a system without these files.
    return []
  }
}

const childrenOf = (pid: number): ReadonlyArray<number> => {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) => childrenIn(`/proc/${pid}/task/${task}/children`))
  } catch {
    return []
  }
}

const withDescendants = (pid: number): ReadonlyArray<number> => [pid, ...childrenOf(pid).flatMap(withDescendants)]

const kill = (pid: number): void => {
  try {
    nodeProcess.kill(pid, "SIGKILL")
  } catch {
    // Gone already, or not ours any more.
  }
}

/** What one worker has started. */
export class Descendants {
  #thread = 0
  readonly #groups = new Set<number>()

  /** The worker's thread, as the system numbers it. */
  thread(id: number): void {
    this.#thread = id
  }

  /** A program that leads a group of its own. */
  started(pid: number): void {
    this.#groups.add(pid)
  }

  /** Ends them all, groups and what the thread waits for. */
  kill(): void {
    const direct = this.#thread > 0 ? childrenIn(`/proc/${nodeProcess.pid}/task/${this.#thread}/children`) : []
    for (const pid of new Set([...direct, ...this.#groups].flatMap(withDescendants))) kill(pid)
    for (const pid of this.#groups) kill(-pid)
    this.#groups.clear()
  }
}
