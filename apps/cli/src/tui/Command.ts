/** What the reducer wants done outside of it. Pure. */
import type { Outcome } from "./Dialog.ts"
import type { ListName, Words } from "./State.ts"

/** What is done with a session that is not open. */
export type SessionDeed = { readonly deed: "rename"; readonly id: string; readonly title: string } | { readonly deed: "delete"; readonly id: string }

/** What the reducer wants done. */
export type Command =
  | { readonly type: "prompt"; readonly words: Words }
  | { readonly type: "steer" | "followUp" | "aside"; readonly text: string }
  | { readonly type: "interrupt" | "proceed" | "takeBack" | "redraw" | "suspend" | "edit" | "quit" | "ring" | "load" | "cycleMode" | "doctor" | "trial" | "auth" }
  /** Sends what is in the composer, as if Enter had been pressed. */
  | { readonly type: "submit"; readonly as: "followUp" }
  /** Puts words into the composer: before what is there, or in its place. */
  | { readonly type: "compose"; readonly text: string; readonly instead: boolean }
  /** Puts words where the cursor is. */
  | { readonly type: "insert"; readonly text: string }
  | { readonly type: "answer"; readonly id: number; readonly outcome: Outcome }
  | { readonly type: "act"; readonly key: string; readonly action: string; readonly text?: string }
  | { readonly type: "restart" | "disable" | "log"; readonly key: string }
  | { readonly type: "makeExtension"; readonly name: string }
  /** Calls a function that a module gave a key. */
  | { readonly type: "shortcut"; readonly extension: string; readonly handle: number }
  | { readonly type: "list"; readonly what: ListName }
  | { readonly type: "gather" }
  | { readonly type: "select"; readonly value: string }
  | { readonly type: "provide" | "login" | "logout"; readonly provider: string }
  | { readonly type: "think"; readonly level: string }
  | { readonly type: "session"; readonly deed: SessionDeed }
  /** Changes a setting of the person; without a value it is asked for. */
  | { readonly type: "setting"; readonly key: string; readonly value?: string }
  /** Remembers how the screen shall look. */
  | { readonly type: "keepTheme"; readonly theme: string }
  /** Attaches a picture: the clipboard's, or a file's; `text` stands in its place where that is none. */
  | { readonly type: "picture"; readonly file?: { readonly path: string; readonly text: string } }
  | { readonly type: "title"; readonly text: string }
  | { readonly type: "shell"; readonly id: string; readonly command: string; readonly share: boolean }
  | { readonly type: "copy"; readonly text: string }
