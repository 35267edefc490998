/** So much at once, and so much again in a second: a token bucket. Plain state; whoever asks says what time it is. */

/** How much may be taken at once, and how much of it comes back in a second. */
export interface AllowanceOptions {
  readonly most: number
  readonly perSecond: number
}

/** An allowance, full at first. Times are milliseconds of one clock. */
export class Allowance {
  readonly #options: AllowanceOptions
  #level: number
  #at: number | undefined

  constructor(options: AllowanceOptions) {
    this.#options = options
    this.#level = options.most
  }

  /** Takes one out; false when there is none. */
  take(now: number): boolean {
    this.#refill(now)
    if (this.#level < 1) return false
    this.#level--
    return true
  }

  /** Takes `amount` out, be it there or not: what is not is owed. */
  spend(now: number, amount: number): void {
    this.#refill(now)
    this.#level -= amount
  }

  /** The time until nothing is owed. */
  owedFor(now: number): number {
    this.#refill(now)
    return this.#level >= 0 ? 0 : -this.#level / this.#options.perSecond * 1_000
  }

  #refill(now: number): void {
    const { most, perSecond } = this.#options
    this.#level = Math.min(most, this.#level + (now - (this.#at ?? now)) / 1_000 * perSecond)
    this.#at = now
  }
}
