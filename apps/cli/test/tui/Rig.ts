/** A screen's state driven by events, and hostile texts, for the tests beside this file. */
import type { RunPlace } from "@nimlet/protocol"
import { makeKeymap } from "../../src/tui/Keymap.ts"
import { makePalette } from "../../src/tui/Palette.ts"
import { reduce } from "../../src/tui/Reduce.ts"
import type { Command } from "../../src/tui/Command.ts"
import type { Event } from "../../src/tui/Event.ts"
import { initial, type State } from "../../src/tui/State.ts"
import type { Look } from "../../src/tui/view/Items.ts"
import { makeMarkdown } from "../../src/tui/view/MarkdownLibrary.ts"

export const place: RunPlace = { session_id: "s", turn_id: "t", run_id: "t" }
export const empty = { empty: true, completing: false }

/** A state and the time, moved by events. */
export class Rig {
  state: State
  now = 1_000
  readonly commands: Array<Command> = []

  constructor(state: State = { ...initial({ version: "1", folder: "/work", now: 1_000 }), settled: [], answering: { provider: "p", model: "m", window: 1_000 } }) {
    this.state = state
  }

  /** Whether the event was taken. */
  on(...events: ReadonlyArray<Event>): boolean {
    return events.map((event) => {
      const step = reduce(this.state, event, this.now)
      this.state = step.state
      this.commands.push(...step.commands)
      return step.taken
    }).every((taken) => taken)
  }

  key(key: string, { composer = empty, typed = key.length === 1 ? key : "" }: { readonly typed?: string; readonly composer?: typeof empty } = {}): boolean {
    return this.on({ type: "key", key, typed, composer })
  }

  /** The commands since the last look. */
  get done(): ReadonlyArray<Command> {
    return this.commands.splice(0)
  }

  wait(millis: number): void {
    this.now += millis
  }

  /** A letter, and the moment that shows it to be no word's first. */
  letter(key: string): boolean {
    const taken = this.key(key)
    this.wait(200)
    this.on({ type: "tick" })
    return taken
  }
}

export const look = (width: number, open = false): Look => ({ palette: makePalette({ colours: true, theme: "dark" }), highlight: () => undefined, markdown: makeMarkdown, open, plain: false, keymap: makeKeymap(), thinkingLabel: undefined, width })

/** Texts that try to leave their place, each with what it tries. */
export const hostile: ReadonlyArray<readonly [string, string]> = [
  ["sets the title", "a\u001b]0;evil\u0007b"],
  ["sets the title, ended otherwise", "a\u001b]2;evil\u001b\\b"],
  ["sets the title, never ended", "a\u001b]0;evil"],
  ["writes to the clipboard", "a\u001b]52;c;ZXZpbA==\u0007b"],
  ["links", "a\u001b]8;;http://evil\u0007b\u001b]8;;\u0007"],
  ["rings", "a\u0007b"],
  ["moves up", "a\u001b[5Ab"],
  ["clears the screen", "a\u001b[2J\u001b[Hb"],
  ["colours", "a\u001b[31mb"],
  ["switches the screen", "a\u001b[?1049hb"],
  ["asks for a report", "a\u001b[6nb\u001b[c"],
  ["takes the mouse", "a\u001b[?1000hb"],
  ["resets the terminal", "a\u001bcb"],
  ["shifts the character set", "a\u000eb\u000fc\u001b(0d"],
  ["C1: CSI", "a\u009b31mb"],
  ["C1: OSC", "a\u009d0;evil\u009cb"],
  ["C1: DCS", "a\u0090q\u009cb"],
  ["C1: next line", "a\u0085b"],
  ["DCS", "a\u001bPq#0;2;0;0;0#0~~\u001b\\b"],
  ["APC", "a\u001b_Gf=100;AAAA\u001b\\b"],
  ["a pi cursor mark", "a\u001b_pi:c\u0007b"],
  ["a fake cursor", "a\u001b_pi:fc\u0007b\u001b_pi:/fc\u0007"],
  ["PM", "a\u001b^evil\u001b\\b"],
  ["half an escape", "a\u001b"],
  ["half a CSI", "a\u001b["],
  ["overwrites the line", "a good\rb"],
  ["goes back", "ab\b\b\bc"],
  ["vertical tab and form feed", "a\u000bb\u000cc"],
  ["tabs", "a\t\t\tb"],
  ["turns the direction", "a\u202eb\u202cc"],
  ["isolates a direction", "a\u2066b\u2069c\u2067d"],
  ["marks a direction", "a\u200eb\u200fc\u061cd"],
  ["line separators", "a\u2028b\u2029c"],
  ["half a character", "a\ud800b\udc00c"],
  ["a nul", "a\u0000b"],
  ["delete", "a\u007fb"],
  ["stacked marks", `a${"\u0301".repeat(200)}b`],
  ["a flag and a family", "a🇩🇪b👨‍👩‍👧‍👦c"],
  ["wide ones", "日本語".repeat(60)],
  ["a megabyte on a line", "x".repeat(1024 * 1024)],
  ["many lines", "y\n".repeat(20_000)]
]
