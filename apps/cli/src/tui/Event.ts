/** What can happen to the screen. Pure. */
import type { ExtensionFigures, WidgetView } from "@nimlet/extension"
import type { AgentEvent, Segment } from "@nimlet/protocol"
import type { Question } from "./Dialog.ts"
import type { Item } from "./Item.ts"
import type { ThemeName } from "./Palette.ts"
import type { Answering, ListName, Pickable, Picture, Waiting, Words, Working } from "./State.ts"

/** The composer as keys find it. */
export interface ComposerState {
  readonly empty: boolean
  /** Its list of completions is open. */
  readonly completing: boolean
}

/** What can happen. */
export type Event =
  | { readonly type: "agent"; readonly event: AgentEvent }
  | { readonly type: "asked"; readonly id: number; readonly question: Question }
  | { readonly type: "withdrawn"; readonly id: number }
  | { readonly type: "status"; readonly key: string; readonly segments: ReadonlyArray<Segment> }
  | { readonly type: "widget"; readonly key: string; readonly widget: WidgetView | undefined }
  | { readonly type: "notice"; readonly level: "info" | "warning" | "error"; readonly text: string; readonly from?: string }
  | { readonly type: "figures"; readonly figures: ReadonlyArray<ExtensionFigures> }
  | { readonly type: "opened"; readonly session: string }
  | { readonly type: "ready"; readonly answering: Answering }
  | { readonly type: "working"; readonly working: Working }
  | { readonly type: "loaded"; readonly items: ReadonlyArray<Item>; readonly title: string }
  | { readonly type: "titled"; readonly title: string }
  | { readonly type: "returned"; readonly text: string }
  | { readonly type: "ended"; readonly back: string; readonly editorText: string }
  | { readonly type: "waiting"; readonly waiting: Waiting }
  | { readonly type: "aside"; readonly text: string; readonly over: boolean }
  | { readonly type: "said"; readonly words: Words }
  | { readonly type: "submitted"; readonly text: string; readonly as: "steer" | "followUp" }
  | { readonly type: "key"; readonly key: string; readonly typed: string; readonly composer: ComposerState }
  /** A text was pasted at once; `taken: false` leaves it to the composer. */
  | { readonly type: "pasted"; readonly text: string }
  /** A picture was attached to what is being written. */
  | { readonly type: "pictured"; readonly picture: Omit<Picture, "id"> }
  /** Words came for the place where the cursor is. */
  | { readonly type: "written"; readonly text: string }
  /** A button of a widget was clicked. */
  | { readonly type: "clicked"; readonly key: string; readonly action: string }
  | { readonly type: "items"; readonly what: ListName; readonly items: ReadonlyArray<Pickable> }
  /** All that was said in the session, to be searched. */
  | { readonly type: "gathered"; readonly items: ReadonlyArray<Item> }
  | { readonly type: "log"; readonly key: string; readonly lines: ReadonlyArray<string> }
  | { readonly type: "shell"; readonly id: string; readonly output: string; readonly code: number | undefined }
  | { readonly type: "focus"; readonly focused: boolean }
  /** The terminal told how bright its ground is. */
  | { readonly type: "ground"; readonly ground: ThemeName }
  /** A module set a part of the screen; null gives it back. */
  | { readonly type: "aspect"; readonly extension: string; readonly aspect: string; readonly value: unknown }
  | { readonly type: "tick" }
