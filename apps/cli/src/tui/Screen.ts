/**
 * The one who owns the terminal. What happens goes through the reducer at once, for that waits for nothing; what is to be
 * done goes out as commands; what is to be seen is drawn when the terminal is due, at most some sixty times a second.
 * The library's classes stand at this edge and nowhere else.
 */
import {
  type AutocompleteProvider, type Component, decodeKittyPrintable, Editor, isKeyRelease, type KeybindingsConfig, KeybindingsManager, parseKey, setKeybindings, type Terminal,
  TuiMainScreen, TUI_KEYBINDINGS
} from "@earendil-works/pi-tui"
import { clean } from "./Clean.ts"
import type { Palette } from "./Palette.ts"
import { reduce } from "./Reduce.ts"
import type { Command, Event, State } from "./State.ts"
import { aboveComposer, belowComposer, startFor, transcriptLines } from "./view/Frame.ts"
import { makeHighlighter } from "./view/Highlight.ts"
import { ItemLines, type Look } from "./view/Items.ts"

/** How many lines of the transcript are written anew when all is. */
const rebuilt = 2_000
/** How many lines beyond the screen are held before those that have scrolled away are let go. */
const held = 600

/** Enter that was pressed before the terminal was ours comes as a line feed; for so long after the start it is Enter, in milliseconds. */
const typedAhead = 1_000

/** What a screen is made of. */
export interface ScreenOptions {
  readonly terminal: Terminal
  readonly palette: Palette
  readonly state: State
  readonly keys: KeybindingsConfig
  /** Milliseconds now. */
  readonly now: () => number
  /** Does what the screen cannot do by itself. */
  readonly perform: (command: Command) => void
  /** Told after each event. */
  readonly changed: (state: State) => void
  /** Told of what went wrong in drawing or at a key, where nobody else can hear of it. */
  readonly crashed: (error: unknown) => void
}

/** Draws, and lets go of lines that are the scrollback's by now, so that a frame costs what is on the screen. */
class Drawing extends TuiMainScreen {
  drawn: () => void = () => undefined

  protected override doRender(): void {
    super.doRender()
    this.drawn()
  }

  /** Forgets the first lines; none of them may be on the screen. */
  drop(count: number): void {
    const { cursorRow, hardwareCursorRow, maxLinesRendered, previousLines, previousViewportTop, ...size } = this.captureRenderState()
    this.restoreRenderState({
      ...size,
      previousLines: previousLines.slice(count),
      cursorRow: cursorRow - count,
      hardwareCursorRow: hardwareCursorRow - count,
      maxLinesRendered: maxLinesRendered - count,
      previousViewportTop: previousViewportTop - count
    })
  }

  protected override getExitRestoreSuffix(): string {
    return leave
  }
}

/** Tells us whether the window has the person's eye, and remembers the title that was there. */
const enter = "\u001b[?1004h\u001b[22;0t"
const leave = "\u001b[?1004l\u001b[23;0t"

/** The screen. */
export class Screen {
  #state: State
  readonly #options: ScreenOptions
  readonly #tui: Drawing
  readonly #editor: Editor
  readonly #items = new ItemLines()
  readonly #look: (width: number) => Look
  /** The item that drawing begins with, and how many of its lines are left out. */
  #from = 0
  #skipped = 0
  #skippedId = -1
  #size = ""
  #lines = 0
  #submitAs: "steer" | "followUp" = "steer"
  #up = false
  #since = 0

  constructor(options: ScreenOptions) {
    const { palette } = options
    this.#options = options
    this.#state = options.state
    setKeybindings(new KeybindingsManager(TUI_KEYBINDINGS, options.keys))
    this.#tui = new Drawing(options.terminal)
    this.#editor = new Editor(this.#tui, {
      borderColor: palette.dim,
      selectList: { selectedPrefix: palette.accent, selectedText: palette.bold, description: palette.dim, scrollInfo: palette.dim, noMatch: palette.dim }
    }, { autocompleteMaxVisible: 8 })
    const highlight = makeHighlighter(palette, () => {
      this.#items.forget()
      this.#tui.requestRender()
    })
    this.#look = (width) => ({ palette, highlight, open: this.#state.open, width })
    const root: Component = { render: (width) => this.#guarded(() => this.#render(Math.max(1, width)), []), invalidate: () => this.#editor.invalidate() }
    this.#tui.addChild(root)
    this.#tui.setFocus(this.#editor)
    this.#tui.drawn = () => this.#letGo()
    this.#tui.addInputListener((given) => {
      const data = given === "\n" && options.now() - this.#since < typedAhead ? "\r" : given
      return this.#guarded(() => this.#key(data), true) ? { consume: true } : { data }
    })
    this.#editor.onSubmit = (text) => this.#submit(text)
  }

  /** What is shown. */
  get state(): State {
    return this.#state
  }

  /** Takes the terminal. */
  start(): void {
    this.#since = this.#options.now()
    this.#tui.start()
    this.#options.terminal.write(enter)
    this.#options.terminal.setTitle(`nimlet · ${clean(this.#state.folder.split("/").at(-1) ?? "").slice(0, 60)}`)
    this.#up = true
    this.#tui.renderNow()
  }

  /** Gives the terminal back as it was. */
  stop(): void {
    if (!this.#up) return
    this.#up = false
    this.#options.terminal.write(leave)
    this.#tui.stop()
  }

  /** Takes the terminal again after somebody else had it. */
  resume(): void {
    this.#size = ""
    this.#tui.start()
    this.#options.terminal.write(enter)
    this.#up = true
    this.#tui.requestRender(true)
  }

  /** What completes words in the composer. */
  set completion(provider: AutocompleteProvider) {
    this.#editor.setAutocompleteProvider(provider)
  }

  /** What is in the composer, pasted texts at length. */
  get composed(): string {
    return this.#editor.getExpandedText()
  }

  /** Puts a text in the composer's place. */
  compose(text: string): void {
    this.#editor.setText(text)
    this.#tui.requestRender()
  }

  /** A prompt of earlier, for the composer's history. */
  remember(text: string): void {
    this.#editor.addToHistory(text)
  }

  /** Something happened. */
  dispatch(event: Event): boolean {
    const { commands, state, taken } = reduce(this.#state, event, this.#options.now())
    this.#state = state
    for (const command of commands) this.#obey(command)
    if (this.#up) this.#tui.requestRender()
    this.#options.changed(this.#state)
    return taken
  }

  /** The library calls us from the event loop: what is thrown there would end the process as it stands. */
  #guarded<A>(work: () => A, otherwise: A): A {
    try {
      return work()
    } catch (error) {
      this.#options.crashed(error)
      return otherwise
    }
  }

  #obey(command: Command): void {
    switch (command.type) {
      case "compose":
        return this.compose(command.instead ? command.text : [command.text, this.composed].filter((text) => text !== "").join("\n\n"))
      case "submit": {
        const text = this.composed
        this.#submitAs = command.as
        this.compose("")
        return this.#submit(text)
      }
      case "redraw":
        this.#size = ""
        return this.#tui.requestRender(true)
      case "ring":
        // What iTerm and others show as a notice, and the bell for the rest.
        return this.#options.terminal.write("\u001b]9;nimlet waits for you\u0007\u0007")
      case "copy":
        return this.#options.terminal.write(`\u001b]52;c;${Buffer.from(command.text).toString("base64")}\u0007`)
      default:
        return this.#options.perform(command)
    }
  }

  #submit(text: string): void {
    const as = this.#submitAs
    this.#submitAs = "steer"
    if (text.trim() !== "") this.#editor.addToHistory(text)
    this.dispatch({ type: "submitted", text, as })
  }

  /** Whether a key is not the composer's. */
  #key(data: string): boolean {
    if (data === "\u001b[I" || data === "\u001b[O") {
      this.dispatch({ type: "focus", focused: data === "\u001b[I" })
      return true
    }
    if (isKeyRelease(data)) return true
    const pasted = /^\u001b\[200~([\s\S]*)\u001b\[201~$/.exec(data)?.[1]
    const typed = pasted ?? decodeKittyPrintable(data) ?? (/[\u0000-\u001f\u007f]/.test(data) ? "" : data)
    const composer = { empty: this.#editor.getText() === "", completing: this.#editor.isShowingAutocomplete() }
    return this.dispatch({ type: "key", key: pasted === undefined ? parseKey(data) ?? "" : "paste", typed: clean(typed), composer })
  }

  #render(width: number): ReadonlyArray<string> {
    const look = this.#look(width)
    const size = `${width}x${this.#options.terminal.rows}`
    const first = this.#state.settled[this.#from - this.#state.forgotten] ?? this.#state.live[0]
    // An answer of which much has scrolled away may be taken back by a hook when it is finished.
    const isGone = this.#skipped > 0 && !(first?.kind === "answer" && first.id === this.#skippedId && this.#items.of(first, look).length >= this.#skipped)
    if (this.#size !== size || isGone) {
      this.#size = size
      this.#from = startFor(this.#state, rebuilt, this.#items, look)
      this.#skipped = 0
    }
    const transcript = transcriptLines(this.#state, this.#from, this.#items, look).slice(this.#skipped)
    const lines = [...transcript, ...aboveComposer(this.#state, look), ...this.#editor.render(width), ...belowComposer(this.#state, look)]
    this.#lines = lines.length
    return lines
  }

  /** Lets go of what stands in the scrollback by now: settled items, and the beginning of an answer that only grows. */
  #letGo(): void {
    const { columns, rows } = this.#options.terminal
    const spare = this.#lines - 2 * rows - held
    if (spare < held) return
    const look = this.#look(Math.max(1, columns))
    const { forgotten, live, settled } = this.#state
    let left = spare + this.#skipped
    let from = this.#from
    for (; from - forgotten < settled.length; from++) {
      const item = settled[from - forgotten]
      const lines = item === undefined ? 0 : this.#items.of(item, look).length
      if (lines > left) break
      left -= lines
    }
    const next = settled[from - forgotten] ?? live[0]
    const skipped = next?.kind === "answer" ? Math.min(left, this.#items.of(next, look).length) : 0
    const count = spare + this.#skipped - left + skipped - this.#skipped
    if (count <= 0) return
    this.#from = from
    this.#skipped = skipped
    if (next?.kind === "answer") this.#skippedId = next.id
    this.#lines -= count
    this.#tui.drop(count)
  }
}
