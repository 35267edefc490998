/** All that the screen shows, as one plain value; what can happen to it; and what the reducer wants done. Pure. */
import type { ExtensionFigures, WidgetView } from "@nimlet/extension"
import type { AgentEvent, Segment } from "@nimlet/protocol"
import type { Dialog, Outcome, Question } from "./Dialog.ts"
import type { Field } from "./Field.ts"
import type { Item } from "./Item.ts"
import { type Keymap, makeKeymap } from "./Keymap.ts"

/** Who answers, and how many tokens they can hold. */
export interface Answering {
  readonly provider: string
  readonly model: string
  readonly window?: number
}

/** How the agent works: its mode, where that is not the usual one, whether calls run unasked, and commands that are files. */
export interface Working {
  readonly mode: string | undefined
  readonly yolo: boolean
  /** What the session cost so far, in dollars, where prices are known. */
  readonly cost?: number
  readonly commands: ReadonlyArray<{ readonly name: string; readonly description: string }>
}

/** A run of the agent, from the moment its words were sent. */
export interface Running {
  readonly since: number
  readonly interrupted: boolean
}

/** Words for the model; `literal` ones are no command, whatever they begin with. */
export interface Words {
  readonly text: string
  readonly literal: boolean
}

/** What waits to be said. */
export interface Waiting {
  readonly steering: ReadonlyArray<string>
  readonly followUp: ReadonlyArray<string>
}

/** One thing to pick; the search goes through `label` and `about`. */
export interface Pickable {
  readonly value: string
  readonly label: string
  readonly about: string
}

/** What lies over the composer until it is closed. */
export type Overlay =
  | { readonly kind: "picker"; readonly what: "resume" | "model" | "fork"; readonly title: string; readonly items: ReadonlyArray<Pickable> | undefined; readonly filter: Field; readonly selected: number }
  | { readonly kind: "extensions"; readonly selected: number; readonly log: { readonly key: string; readonly lines: ReadonlyArray<string> } | undefined }

/** What the screen shows. */
export interface State {
  readonly now: number
  readonly version: string
  readonly folder: string
  readonly session: { readonly id: string; readonly title: string }
  /** Undefined until the extensions have started and the model is known. */
  readonly answering: Answering | undefined
  readonly working: Working
  /** What cannot change any more, oldest first, and how many before it are kept no longer. */
  readonly settled: ReadonlyArray<Item>
  readonly forgotten: number
  /** What may still change. */
  readonly live: ReadonlyArray<Item>
  /** Names for what is said. */
  readonly nextId: number
  readonly run: Running | undefined
  /** Words that were sent and that the agent has not taken up yet. */
  readonly sent: string | undefined
  /** Words of extensions that came in between. */
  readonly later: ReadonlyArray<Words>
  readonly waiting: Waiting
  /** Commands that go on beside the run, as they were typed. */
  readonly asides: ReadonlyArray<string>
  /** Tokens of the session so far, those of the latest step as they fill the window, and of the run under way. */
  readonly tokens: { readonly input: number; readonly output: number; readonly context: number; readonly run: number; readonly steps: number }
  readonly statuses: ReadonlyArray<readonly [string, ReadonlyArray<Segment>]>
  readonly widgets: ReadonlyArray<readonly [string, WidgetView]>
  /** Which action of which widget the keys are on. */
  readonly pressed: { readonly key: string; readonly action: number } | undefined
  /** What is typed into the modal on the screen, and whether it was put away. */
  readonly modal: { readonly key: string; readonly field: Field; readonly hidden: boolean } | undefined
  /** Questions, the first one on the screen. */
  readonly dialogs: ReadonlyArray<Dialog>
  readonly overlay: Overlay | undefined
  readonly figures: ReadonlyArray<ExtensionFigures>
  /** Calls and thinking are shown at length. */
  readonly open: boolean
  /** Until when ctrl+c leaves. */
  readonly leaving: number | undefined
  readonly focused: boolean
  readonly keymap: Keymap
}

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
  | { readonly type: "items"; readonly what: "resume" | "model" | "fork"; readonly items: ReadonlyArray<Pickable> }
  | { readonly type: "log"; readonly key: string; readonly lines: ReadonlyArray<string> }
  | { readonly type: "shell"; readonly id: string; readonly output: string; readonly code: number | undefined }
  | { readonly type: "focus"; readonly focused: boolean }
  | { readonly type: "tick" }

/** What the reducer wants done outside of it. */
export type Command =
  | { readonly type: "prompt"; readonly words: Words }
  | { readonly type: "steer" | "followUp" | "aside"; readonly text: string }
  | { readonly type: "interrupt" | "proceed" | "takeBack" | "redraw" | "suspend" | "edit" | "quit" | "ring" | "load" | "cycleMode" }
  /** Sends what is in the composer, as if Enter had been pressed. */
  | { readonly type: "submit"; readonly as: "followUp" }
  /** Puts words into the composer: before what is there, or in its place. */
  | { readonly type: "compose"; readonly text: string; readonly instead: boolean }
  | { readonly type: "answer"; readonly id: number; readonly outcome: Outcome }
  | { readonly type: "act"; readonly key: string; readonly action: string; readonly text?: string }
  | { readonly type: "restart" | "log"; readonly key: string }
  | { readonly type: "list"; readonly what: "resume" | "model" | "fork" }
  | { readonly type: "select"; readonly value: string }
  | { readonly type: "shell"; readonly id: string; readonly command: string; readonly share: boolean }
  | { readonly type: "copy"; readonly text: string }

/** A state and what is to be done; `taken: false` leaves a key to the composer. */
export interface Step {
  readonly state: State
  readonly commands: ReadonlyArray<Command>
  readonly taken: boolean
}

/** The first frame. */
export const initial = (options: { readonly version: string; readonly folder: string; readonly now: number; readonly keymap?: Keymap }): State => ({
  now: options.now,
  version: options.version,
  folder: options.folder,
  session: { id: "", title: "" },
  answering: undefined,
  working: { mode: undefined, yolo: false, commands: [] },
  settled: [{ kind: "welcome", version: options.version, folder: options.folder }],
  forgotten: 0,
  live: [],
  nextId: 0,
  run: undefined,
  sent: undefined,
  later: [],
  waiting: { steering: [], followUp: [] },
  asides: [],
  tokens: { input: 0, output: 0, context: 0, run: 0, steps: 0 },
  statuses: [],
  widgets: [],
  pressed: undefined,
  modal: undefined,
  dialogs: [],
  overlay: undefined,
  figures: [],
  open: false,
  leaving: undefined,
  focused: true,
  keymap: options.keymap ?? makeKeymap()
})

/** Those that the first prompt waits for. */
export const starting = ({ figures }: State): ReadonlyArray<string> =>
  figures.filter(({ manifest, state }) => state === "Starting" && manifest.background !== true).map(({ key }) => key)
