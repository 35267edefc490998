/** A real terminal with a shell in it, by tmux on a socket of its own: keys go in, screens are read. */
import { execFileSync } from "node:child_process"
import { dirname } from "node:path"
import { setTimeout } from "node:timers/promises"
import { project } from "./Workspace.ts"

/** The terminal. */
export interface TmuxSession {
  /** Types keys as tmux names them (`Enter`, `C-c`, `Escape`); other words as they stand. */
  readonly keys: (...keys: ReadonlyArray<string>) => void
  /** Types text as it stands. */
  readonly type: (text: string) => void
  /** Presses and lets go of the mouse, column and row from 0, as a terminal tells a program that asked for it. */
  readonly click: (column: number, row: number) => void
  /** Tells a program that asked for it whether the window has the person's eye, as a terminal does. */
  readonly focus: (focused: boolean) => void
  /** Writes all that programs send from now on to a file, escapes and all. */
  readonly record: (file: string) => void
  /** What is seen, blanks at the ends of lines left out. */
  readonly screen: () => string
  /** What is seen and what has scrolled away. */
  readonly history: () => string
  /** Returns what is seen once it holds; fails with the last screen when it does not within `ms` (10 s). */
  readonly until: (holds: string | ((screen: string) => boolean), ms?: number) => Promise<string>
  readonly resize: (columns: number, rows: number) => void
  /** Ends it with all that runs in it. */
  readonly close: () => void
  /** What the program in it has switched on: the alternate screen, the mouse; and whether the cursor is seen. */
  readonly modes: () => { readonly alternate: boolean; readonly cursor: boolean; readonly mouse: boolean }
  /** The window's title, as programs set it. */
  readonly title: () => string
  /** What programs have put into the clipboard. */
  readonly clipboard: () => string
  /** The process that runs in the foreground. */
  readonly foreground: () => number
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** Starts a shell at a prompt of `$ `; `nimlet` runs the built product in it. */
export const startTmux = async (options: {
  readonly cwd: string
  readonly home: string
  readonly columns?: number
  readonly rows?: number
  readonly env?: Readonly<Record<string, string>>
}): Promise<TmuxSession> => {
  const { columns = 80, cwd, env = {}, home, rows = 24 } = options
  const socket = `${home}/tmux`
  const bin = process.env["NIMLET_BIN"] ?? `${project}/apps/cli/dist/nimlet.mjs`
  const tmux = (...args: ReadonlyArray<string>): string =>
    execFileSync("tmux", ["-f", "/dev/null", "-S", socket, ...args], {
      cwd,
      encoding: "utf8",
      env: { PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`, HOME: home, LANG: "C.UTF-8", TERM: "xterm-256color", BIN: bin, ...env }
    })
  tmux("new-session", "-d", "-x", String(columns), "-y", String(rows), "bash --norc --noprofile -i")
  tmux("set-option", "-g", "history-limit", "50000")
  // As a terminal that lets programs write to the clipboard.
  tmux("set-option", "-s", "set-clipboard", "on")
  const screen = () => tmux("capture-pane", "-p").replaceAll(/[ ]+$/gm, "").trimEnd()
  const until: TmuxSession["until"] = async (holds, ms = 10_000) => {
    const end = performance.now() + ms
    for (;;) {
      const seen = screen()
      if (typeof holds === "string" ? seen.includes(holds) : holds(seen)) return seen
      if (performance.now() > end) throw new Error(`not seen: ${typeof holds === "string" ? holds : String(holds)}\n${seen}`)
      await setTimeout(30)
    }
  }
  let isOpen = true
  const close = () => {
    if (isOpen) tmux("kill-server")
    isOpen = false
  }
  const type = (text: string) => void tmux("send-keys", "-l", "--", text)
  /** In one piece, as a terminal sends what is no key: keys are typed one by one. */
  const send = (text: string) => {
    tmux("set-buffer", text)
    tmux("paste-buffer", "-r")
  }
  await until((seen) => seen !== "")
  type("PS1='$ '; nimlet() { node \"$BIN\" \"$@\"; }; clear")
  tmux("send-keys", "Enter")
  await until((seen) => seen === "$")
  return {
    keys: (...keys) => void tmux("send-keys", ...keys),
    type,
    click: (column, row) => ["M", "m"].forEach((end) => send(`\u001b[<0;${column + 1};${row + 1}${end}`)),
    focus: (focused) => send(focused ? "\u001b[I" : "\u001b[O"),
    record: (file) => void tmux("pipe-pane", `cat > '${file}'`),
    screen,
    history: () => tmux("capture-pane", "-p", "-S", "-").replaceAll(/[ ]+$/gm, ""),
    until,
    resize: (columns, rows) => void tmux("resize-window", "-x", String(columns), "-y", String(rows)),
    modes: () => {
      const [alternate, cursor, mouse] = tmux("display-message", "-p", "#{alternate_on} #{cursor_flag} #{mouse_any_flag}").trim().split(" ")
      return { alternate: alternate === "1", cursor: cursor === "1", mouse: mouse === "1" }
    },
    title: () => tmux("display-message", "-p", "#{pane_title}").trim(),
    clipboard: () => tmux("list-buffers", "-F", "#{buffer_sample}").trim(),
    foreground: () => {
      const pane = tmux("display-message", "-p", "#{pane_pid}").trim()
      return Number(execFileSync("ps", ["-o", "tpgid=", "-p", pane], { encoding: "utf8" }))
    },
    close,
    [Symbol.asyncDispose]: async () => close()
  }
}
