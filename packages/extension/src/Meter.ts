/** Counts what happens to one extension over its lives: plain numbers, so that counting costs nothing while it works. */

/** Times of events that are kept. */
export const keptTimes = 256

/** The value that `share` of the sorted values are at most (nearest rank). */
const percentile = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0

/** One extension's counters. */
export class Meter {
  readonly #changed: () => void
  #times: Array<number> = []
  #next = 0
  #sent = 0
  #answered = 0
  #failed = 0
  #late = 0
  #dropped = 0
  #lives = 0
  #silence = 0
  #pid: number | undefined
  #startMillis: number | undefined
  #fault: string | undefined

  /** `changed` is called after every change; it must cost next to nothing. */
  constructor(changed: () => void) {
    this.#changed = changed
  }

  /** A life begins. */
  began(): void {
    this.#lives++
    this.#silence = 0
    this.#pid = undefined
    this.#startMillis = undefined
    this.#changed()
  }

  /** Its process, where there is one. */
  connected(pid: number | undefined): void {
    this.#pid = pid
    this.#changed()
  }

  /** It has registered, `millis` after its life began. */
  registered(millis: number): void {
    this.#startMillis = millis
    this.#fault = undefined
    this.#changed()
  }

  /** A life ended, and its open requests failed; `fault` is why, when nobody asked for it. */
  ended(fault: string | undefined): void {
    this.#failed = this.#sent - this.#answered
    this.#pid = undefined
    this.#fault = fault
    this.#changed()
  }

  /** A request went out. */
  sent(): void {
    this.#sent++
    this.#changed()
  }

  /** A request was answered; `eventMillis` is how long an event took. */
  answered(eventMillis: number | undefined): void {
    this.#answered++
    this.#silence = 0
    if (eventMillis !== undefined) {
      this.#times[this.#next] = eventMillis
      this.#next = (this.#next + 1) % keptTimes
    }
    this.#changed()
  }

  /** A request was given up. */
  gaveUp(): void {
    this.#failed++
    this.#changed()
  }

  /** A reply came that nobody waited for. */
  late(): void {
    this.#late++
    this.#silence = 0
    this.#changed()
  }

  /** How many requests in a row were waited for in vain: each sent after the one before it was given up, no answer since the first. */
  get silence(): number {
    return this.#silence
  }

  /** A request was waited for in vain; `before` is the silence at which it was sent. Several that were open at once count as one. */
  unanswered(before: number): void {
    if (this.#silence === before) this.#silence++
  }

  /** A line was no use: no protocol, too long, or of a type there is not. */
  dropped(): void {
    this.#dropped++
    this.#changed()
  }

  /** The process of the present life. */
  get pid(): number | undefined {
    return this.#pid
  }

  /** What the counters show; see `ExtensionFigures`. */
  get reading() {
    const latest = [...this.#times.slice(this.#next), ...this.#times.slice(0, this.#next)]
    const sorted = latest.toSorted((a, b) => a - b)
    return {
      pid: this.#pid,
      restarts: Math.max(0, this.#lives - 1),
      startMillis: this.#startMillis,
      fault: this.#fault,
      requests: { open: this.#sent - this.#answered - this.#failed, answered: this.#answered, failed: this.#failed },
      hookMillis: latest.length === 0
        ? undefined
        : { p50: percentile(sorted, 0.5), p95: percentile(sorted, 0.95), latest },
      lateReplies: this.#late,
      droppedLines: this.#dropped
    }
  }
}
