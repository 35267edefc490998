/** All that the screen shows, as one plain value. Pure. */
import type { ExtensionFigures, WidgetView } from "@nimlet/extension"
import type { Segment } from "@nimlet/protocol"
import { type Dialog, isResting } from "./Dialog.ts"
import type { Field } from "./Field.ts"
import type { Item } from "./Item.ts"
import { type Keymap, makeKeymap } from "./Keymap.ts"
import type { ThemeChoice, ThemeName } from "./Palette.ts"

/** Who answers, and how many tokens they can hold. */
export interface Answering {
  readonly provider: string
  readonly model: string
  readonly window?: number
  /** How much it thinks; absent where it does as it does by itself. */
  readonly thinking?: string
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

/** A picture that goes along with words; they name it as `[image ID]`. */
export interface Picture {
  readonly id: number
  readonly mimeType: string
  /** In base64. */
  readonly data: string
}

/** Words for the model; `literal` ones are no command, whatever they begin with. `saved`: the session has them already. */
export interface Words {
  readonly text: string
  readonly literal: boolean
  readonly saved?: boolean
  readonly pictures?: ReadonlyArray<Picture>
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

/** What a list is of. */
export type ListName = "resume" | "model" | "provider" | "login" | "thinking" | "fork" | "rewind" | "rewindHow" | "theme" | "settings" | "setting" | "defaultModel"

/** A list that is picked from; `rename` is the new title of the selected session, `doomed` the one that goes at the next key. */
export interface Picker {
  readonly kind: "picker"
  readonly what: ListName
  readonly title: string
  readonly items: ReadonlyArray<Pickable> | undefined
  readonly filter: Field
  readonly selected: number
  readonly rename?: Field
  readonly doomed?: string
}

/** A search through all that was said; `items` are what was said, undefined until they are gathered. `reading` is where one reads on. */
export interface Search {
  readonly kind: "search"
  readonly items: ReadonlyArray<Item> | undefined
  readonly filter: Field
  readonly selected: number
  readonly reading: { readonly item: Item; readonly line: number } | undefined
}

/** What lies over the composer until it is closed. */
export type Overlay =
  | Picker
  | Search
  | { readonly kind: "extensions"; readonly selected: number; readonly log: { readonly key: string; readonly lines: ReadonlyArray<string> } | undefined }

/** How it looks: what the person chose, and what the terminal says its ground is. */
export interface Appearance {
  readonly theme: ThemeChoice
  readonly ground: ThemeName
  /** For a screen reader: words in place of marks, nothing that moves, no rules. */
  readonly plain: boolean
}

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
  /** What is typed into the modal on the screen. */
  readonly modal: { readonly key: string; readonly field: Field } | undefined
  /** Modals that the person closed and their extension has not; `asked`: it was called for since, and comes back with the next it says. */
  readonly putAway: ReadonlyArray<{ readonly key: string; readonly asked: boolean }>
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
  readonly appearance: Appearance
  /** Pictures that were attached to what is being written. */
  readonly pictures: ReadonlyArray<Picture>
  /** Parts of the screen that modules set, the latest last. */
  readonly aspects: ReadonlyArray<{ readonly extension: string; readonly aspect: string; readonly value: unknown }>
}

/** What the first frame is made of. */
export interface InitialOptions {
  readonly version: string
  readonly folder: string
  readonly now: number
  readonly keymap?: Keymap
  readonly appearance?: Appearance
}

/** The first frame. */
export const initial = (options: InitialOptions): State => ({
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
  putAway: [],
  dialogs: [],
  overlay: undefined,
  figures: [],
  open: false,
  leaving: undefined,
  focused: true,
  keymap: options.keymap ?? makeKeymap(),
  appearance: options.appearance ?? { theme: "auto", ground: "dark", plain: false },
  pictures: [],
  aspects: []
})

/** Whether what is seen changes by itself as time goes on. */
export const isMoving = ({ dialogs: [dialog], leaving, now, run }: State): boolean => run !== undefined || leaving !== undefined || (dialog !== undefined && (dialog.held !== undefined || isResting(dialog, now)))

/** Those that the first prompt waits for. */
export const starting = ({ figures }: State): ReadonlyArray<string> =>
  figures.filter(({ manifest, state }) => state === "Starting" && manifest.background !== true).map(({ key }) => key)
