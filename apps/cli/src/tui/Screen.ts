/**
 * The one who owns the terminal. What happens goes through the reducer at once, for that waits for nothing; what is to be
 * done goes out as commands; what is to be seen is drawn when the terminal is due, at most some sixty times a second.
 * The library's classes stand at this edge and nowhere else.
 */
import {
  type AutocompleteProvider, type Component, decodeKittyPrintable, Editor, isKeyRelease, type KeybindingsConfig, KeybindingsManager, parseKey, setKeybindings, type Terminal, TUI_KEYBINDINGS
} from "@earendil-works/pi-tui"
import { breakWide, clean, cleanLine, widest } from "./Clean.ts"
import type { Command } from "./Command.ts"
import { Drawing, enter, leave } from "./Drawing.ts"
import type { Event } from "./Event.ts"
import { askCursor, cursorRow, giveMouse, type MouseEvent, mouseEvent, takeMouse } from "./Mouse.ts"
import { makePalette, type Palette, type ThemeName, themeOf } from "./Palette.ts"
import { reduce } from "./Reduce.ts"
import { aspectOf } from "./reduce/Aspects.ts"
import { Scrollback } from "./Scrollback.ts"
import type { State } from "./State.ts"
import { aboveComposer, belowComposer, buttonAt, hasButtons } from "./view/Frame.ts"
import { type Highlighter, makeHighlighter } from "./view/Highlight.ts"
import { ItemLines, type Look } from "./view/Items.ts"
import { clamp } from "./view/Lines.ts"

/** Enter that was pressed before the terminal was ours comes as a line feed; for so long after the start it is Enter, in milliseconds. */
const typedAhead = 1_000
/** How long a terminal may take to tell its colours; most that do not tell never will. */
const colourMillis = 1_000

const pasteShape = /^\u001b\[200~([\s\S]*)\u001b\[201~$/

/** What was pasted, without what would not stay in its place. Some terminals end its lines with carriage returns. */
const harmlessPaste = (data: string): string => {
  const pasted = pasteShape.exec(data)?.[1]
  return pasted === undefined ? data : `\u001b[200~${pasted.replaceAll(/\r\n?/g, "\n").split("\t").map(clean).join("\t")}\u001b[201~`
}

/** What a screen is made of. */
export interface ScreenOptions {
  readonly terminal: Terminal
  readonly colours: boolean
  /** Whether clicks may be taken while there is something to click. */
  readonly mouse: boolean
  readonly state: State
  readonly keys: KeybindingsConfig
  /** Milliseconds now. */
  readonly now: () => number
  /** Does what the screen cannot do by itself. */
  readonly perform: (command: Command) => void
  /** Told of each prompt that was sent. */
  readonly submitted: (text: string) => void
  /** Told after each event. */
  readonly changed: (state: State) => void
  /** Told of what went wrong in drawing or at a key, where nobody else can hear of it. */
  readonly crashed: (error: unknown) => void
}

/** The screen. */
export class Screen {
  #state: State
  readonly #options: ScreenOptions
  readonly #tui: Drawing
  readonly #editor: Editor
  readonly #items = new ItemLines()
  readonly #scrollback = new Scrollback(this.#items)
  readonly #highlight: Highlighter
  #markdown: Look["markdown"]
  #palette: Palette
  #theme: ThemeName
  #thinkingLabel: string | undefined
  /** How many lines are drawn, and from which on those between transcript and composer. */
  #lines = 0
  #above = 0
  #submitAs: "steer" | "followUp" = "steer"
  #up = false
  #since = 0
  #hasMouse = false
  /** The wheel was turned: it is the terminal's until the next key. */
  #lentMouse = false
  /** A click that waits for the terminal to tell where the cursor is. */
  #clicked: MouseEvent | undefined

  constructor(options: ScreenOptions) {
    this.#options = options
    this.#state = options.state
    this.#theme = themeOf(options.state.appearance)
    this.#palette = makePalette({ colours: options.colours, theme: this.#theme })
    setKeybindings(new KeybindingsManager(TUI_KEYBINDINGS, options.keys))
    this.#tui = new Drawing(options.terminal)
    const dim = (text: string) => this.#palette.dim(text)
    this.#editor = new Editor(this.#tui, {
      borderColor: options.state.appearance.plain ? () => "" : dim,
      selectList: { selectedPrefix: (text) => this.#palette.accent(text), selectedText: (text) => this.#palette.bold(text), description: dim, scrollInfo: dim, noMatch: dim }
    }, { autocompleteMaxVisible: 8 })
    this.#highlight = makeHighlighter(() => this.#palette, () => {
      this.#items.forget()
      this.#tui.requestRender()
    })
    const root: Component = { render: (width) => this.#guarded(() => this.#render(Math.max(1, width)), []), invalidate: () => this.#editor.invalidate() }
    this.#tui.addChild(root)
    this.#tui.setFocus(this.#editor)
    this.#tui.drawn = () => this.#letGo()
    this.#tui.onTerminalColorSchemeChange((ground) => void this.dispatch({ type: "ground", ground }))
    this.#tui.addInputListener((given) => {
      const data = given === "\n" && options.now() - this.#since < typedAhead ? "\r" : harmlessPaste(given)
      return this.#guarded(() => this.#input(data), true) ? { consume: true } : { data }
    })
    this.#editor.onSubmit = (text) => this.#submit(text)
    this.#editor.onChange = (text) => {
      const broken = breakWide(text)
      if (broken !== text) this.#editor.setText(broken)
    }
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
    this.#title("")
    this.#up = true
    this.#tui.renderNow()
  }

  /** Asks the terminal how bright its ground is, and to tell when that changes. */
  askGround(): void {
    this.#tui.setTerminalColorSchemeNotifications(true)
    const heard = ({ background }: { readonly background?: { readonly r: number; readonly g: number; readonly b: number } }) => {
      if (background === undefined) return
      const { b, g, r } = background
      this.dispatch({ type: "ground", ground: 0.299 * r + 0.587 * g + 0.114 * b > 127 ? "light" : "dark" })
    }
    void this.#tui.queryTerminalColors({ timeoutMs: colourMillis, onLateReply: heard }).then(heard)
  }

  /** Gives the terminal back as it was. */
  stop(): void {
    if (!this.#up) return
    this.#up = false
    this.#hasMouse = false
    this.#options.terminal.write(leave)
    this.#tui.stop()
  }

  /** Takes the terminal again after somebody else had it. */
  resume(): void {
    this.#scrollback.forget()
    this.#tui.start()
    this.#options.terminal.write(enter)
    this.#up = true
    this.#tui.requestRender(true)
  }

  /** What draws markdown. The first frame has none and does not wait for it. */
  set markdown(make: Look["markdown"]) {
    this.#markdown = make
    this.#items.forget()
    if (this.#up) this.#tui.requestRender()
  }

  /** What completes words in the composer. */
  set completion(provider: AutocompleteProvider) {
    this.#editor.setAutocompleteProvider(provider)
  }

  /** What is in the composer, pasted texts at length. */
  get composed(): string {
    return this.#editor.getExpandedText()
  }

  /** Puts a text in the composer's place. It may come from anybody: the composer writes what is in it as it stands. */
  compose(text: string): void {
    this.#editor.setText(clean(text))
    this.#tui.requestRender()
  }

  /** A prompt of earlier, for the composer's history. */
  remember(text: string): void {
    this.#editor.addToHistory(clean(text))
  }

  /** Something happened. */
  dispatch(event: Event): boolean {
    const { commands, state, taken } = reduce(this.#state, event, this.#options.now())
    this.#state = state
    this.#restyle()
    for (const command of commands) this.#obey(command)
    if (this.#up) {
      this.#settleMouse()
      this.#tui.requestRender()
    }
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

  /** All of it is drawn anew when it looks otherwise. */
  #restyle(): void {
    const theme = themeOf(this.#state.appearance)
    const label = aspectOf(this.#state, "hidden_thinking_label")?.value
    const thinkingLabel = typeof label === "string" ? label : undefined
    if (theme === this.#theme && thinkingLabel === this.#thinkingLabel) return
    this.#theme = theme
    this.#thinkingLabel = thinkingLabel
    this.#palette = makePalette({ colours: this.#options.colours, theme })
    this.#items.forget()
    this.#scrollback.forget()
    if (this.#up) this.#tui.requestRender(true)
  }

  /** Clicks are taken while there is a button, so that the terminal's own selecting is disturbed as little as can be. */
  #settleMouse(): void {
    const wants = this.#options.mouse && !this.#lentMouse && hasButtons(this.#state)
    if (wants === this.#hasMouse) return
    this.#hasMouse = wants
    this.#options.terminal.write(wants ? takeMouse : giveMouse)
  }

  #title(text: string): void {
    const usual = `nimlet · ${this.#state.folder.split("/").at(-1) ?? ""}`
    this.#options.terminal.setTitle(cleanLine(text === "" ? usual : text, 80))
  }

  #obey(command: Command): void {
    switch (command.type) {
      case "compose":
        return this.compose(command.instead ? command.text : [command.text, this.composed].filter((text) => text !== "").join("\n\n"))
      case "insert":
        return this.#editor.insertTextAtCursor(clean(command.text))
      case "submit": {
        const text = this.composed
        this.#submitAs = command.as
        this.compose("")
        return this.#submit(text)
      }
      case "redraw":
        this.#scrollback.forget()
        return this.#tui.requestRender(true)
      case "ring":
        // What iTerm and others show as a notice, and the bell for the rest.
        return this.#options.terminal.write("\u001b]9;nimlet waits for you\u0007\u0007")
      case "copy":
        return this.#options.terminal.write(`\u001b]52;c;${Buffer.from(command.text).toString("base64")}\u0007`)
      case "title":
        return this.#title(command.text)
      default:
        return this.#options.perform(command)
    }
  }

  #submit(text: string): void {
    const as = this.#submitAs
    this.#submitAs = "steer"
    if (text.trim() !== "") this.#editor.addToHistory(text)
    this.#options.submitted(text)
    this.dispatch({ type: "submitted", text, as })
  }

  /** Whether what the terminal sent is not the composer's. */
  #input(data: string): boolean {
    if (data === "\u001b[I" || data === "\u001b[O") {
      this.#lentMouse = false
      this.dispatch({ type: "focus", focused: data === "\u001b[I" })
      return true
    }
    if (isKeyRelease(data)) return true
    const mouse = mouseEvent(data)
    if (mouse !== undefined) return this.#onMouse(mouse)
    const row = this.#clicked === undefined ? undefined : cursorRow(data)
    if (row !== undefined) return this.#click(row)
    this.#lentMouse = false
    const pasted = pasteShape.exec(data)?.[1]
    if (pasted !== undefined && this.dispatch({ type: "pasted", text: pasted })) return true
    const typed = pasted ?? decodeKittyPrintable(data) ?? (/[\u0000-\u001f\u007f]/.test(data) ? "" : data)
    const composer = { empty: this.#editor.getText() === "", completing: this.#editor.isShowingAutocomplete() }
    return this.dispatch({ type: "key", key: pasted === undefined ? parseKey(data) ?? "" : "paste", typed: clean(typed), composer })
  }

  #onMouse(mouse: MouseEvent): boolean {
    if (mouse.kind === "wheel") {
      this.#lentMouse = true
      this.#settleMouse()
    }
    if (mouse.kind !== "press") return true
    this.#clicked = mouse
    this.#options.terminal.write(askCursor)
    return true
  }

  /** Presses what was clicked, now that it is known that the cursor stands in that row. */
  #click(cursor: number): boolean {
    const { column, row } = this.#clicked ?? { column: 0, row: 0 }
    this.#clicked = undefined
    const line = this.#tui.cursorLine + row - cursor
    const button = buttonAt(this.#state, this.#look(Math.max(1, this.#options.terminal.columns)), line - this.#above, column)
    if (button !== undefined) this.dispatch({ type: "clicked", key: button.key, action: button.action })
    return true
  }

  #look(width: number): Look {
    const { appearance: { plain }, keymap, open } = this.#state
    return { palette: this.#palette, highlight: this.#highlight, markdown: this.#markdown, open, plain, keymap, thinkingLabel: this.#thinkingLabel, width }
  }

  /** A character that is wider than all of its line would have the library break it for ever. */
  #composer(width: number): ReadonlyArray<string> {
    return width < widest ? clamp(this.#editor.render(widest), width) : this.#editor.render(width)
  }

  #render(width: number): ReadonlyArray<string> {
    const look = this.#look(width)
    const transcript = this.#scrollback.lines(this.#state, look, this.#options.terminal.rows)
    const lines = [...transcript, ...aboveComposer(this.#state, look), ...this.#composer(width), ...belowComposer(this.#state, look)]
    this.#above = transcript.length
    this.#lines = lines.length
    return lines
  }

  #letGo(): void {
    const { columns, rows } = this.#options.terminal
    const count = this.#scrollback.letGo(this.#state, this.#look(Math.max(1, columns)), this.#lines, rows)
    if (count === 0) return
    this.#lines -= count
    this.#above -= count
    this.#tui.drop(count)
  }
}
