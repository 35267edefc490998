/** A terminal as a grid of cells, for a screen to draw on: what is seen, what has scrolled away, and what was written. */
import type { Terminal as Port } from "@earendil-works/pi-tui"
import xterm from "@xterm/headless"
import { vi } from "vitest"

/** The grid. */
export class Glass implements Port {
  readonly #grid: InstanceType<typeof xterm.Terminal>
  #input: (data: string) => void = () => undefined
  #resized: () => void = () => undefined
  readonly kittyProtocolActive = false
  readonly writes: Array<string> = []
  title = ""
  bells = 0

  constructor(columns: number, rows: number) {
    this.#grid = new xterm.Terminal({ cols: columns, rows, scrollback: 100_000, allowProposedApi: true })
    this.#grid.onTitleChange((title) => (this.title = title))
    this.#grid.onBell(() => this.bells++)
    // What it is asked it answers, as terminals do.
    this.#grid.onData((data) => this.#input(data))
  }
  get columns(): number {
    return this.#grid.cols
  }
  get rows(): number {
    return this.#grid.rows
  }
  start(onInput: (data: string) => void, onResize: () => void): void {
    this.#input = onInput
    this.#resized = onResize
  }
  stop(): void {
    this.#input = () => undefined
  }
  drainInput(): Promise<void> {
    return Promise.resolve()
  }
  write(data: string): void {
    this.writes.push(data)
    this.#grid.write(data)
  }
  moveBy(): void {}
  hideCursor(): void {
    this.#grid.write("\u001b[?25l")
  }
  showCursor(): void {
    this.#grid.write("\u001b[?25h")
  }
  clearLine(): void {}
  clearFromCursor(): void {}
  clearScreen(): void {}
  setTitle(title: string): void {
    this.write(`\u001b]0;${title}\u0007`)
  }
  setProgress(): void {}
  setProgramStatus(): void {}

  /** Types, one key a string. */
  type(...keys: ReadonlyArray<string>): void {
    for (const key of keys) this.#input(key)
  }
  async resize(columns: number, rows: number): Promise<void> {
    await this.settled()
    this.#grid.resize(columns, rows)
    this.#resized()
  }
  /** Everything is drawn and on the grid. Time is the test's: a screen draws at most every 16 ms of it. */
  async settled(): Promise<void> {
    await vi.advanceTimersByTimeAsync(40)
    const written = new Promise<void>((done) => this.#grid.write("", done))
    await vi.advanceTimersByTimeAsync(40)
    await written
  }
  /** What was ever drawn and stands somewhere, the oldest first. */
  async all(): Promise<ReadonlyArray<string>> {
    await this.settled()
    const { active } = this.#grid.buffer
    return Array.from({ length: active.length }, (_, row) => (active.getLine(row)?.translateToString(true) ?? "").trimEnd())
  }
  /** What is seen. */
  async seen(): Promise<ReadonlyArray<string>> {
    const all = await this.all()
    const { baseY } = this.#grid.buffer.active
    return all.slice(baseY, baseY + this.rows)
  }
}
