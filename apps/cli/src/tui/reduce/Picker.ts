/** Picking one of many by typing parts of what it is called. Pure. */
import { fuzzyFilter } from "@earendil-works/pi-tui"
import { fieldKey, fieldOf } from "../Field.ts"
import { listKeyOf, sessionActionOf } from "../Keymap.ts"
import { themeChoices } from "../Palette.ts"
import { screenSettings, settingNamed, usualWord } from "../Setting.ts"
import type { ListName, Pickable, Picker, State } from "../State.ts"
import { step, type Step } from "../Step.ts"
import { send } from "./Send.ts"
import { tell } from "./Transcript.ts"

/** How far a page goes. */
const page = 10

/** Opens a list; what is in it, where that is not known yet, is asked for. */
export const pickFrom = (state: State, what: ListName, title: string, items?: ReadonlyArray<Pickable>): Step => {
  const overlay: Picker = { kind: "picker", what, title, items, filter: fieldOf(), selected: 0 }
  return items === undefined ? step({ ...state, overlay }, { type: "list", what }) : step({ ...state, overlay })
}

/** What is left of the list by what was typed. */
export const matching = ({ filter, items }: Picker): ReadonlyArray<Pickable> =>
  items === undefined ? [] : filter.text.trim() === "" ? items : fuzzyFilter([...items], filter.text, ({ about, label }) => `${label} ${about}`)

/** Has the screen look another way from now on. */
export const chooseTheme = (state: State, wanted: string): Step => {
  const theme = themeChoices.find((one) => one === wanted.toLowerCase())
  if (theme === undefined) return step(tell(state, `There is no theme '${wanted}'; there are ${themeChoices.join(", ")}.`, "warning"))
  return step({ ...state, appearance: { ...state.appearance, theme } }, { type: "keepTheme", theme })
}

/** Shows the settings, the one of `key` selected. */
export const showSettings = (state: State, key = ""): Step => {
  const opened = pickFrom(state, "settings", "Your settings (~/.nimlet/config.json)")
  const { overlay } = opened.state
  const selected = Math.max(0, screenSettings.findIndex((one) => one.key === key))
  return overlay?.kind === "picker" ? { ...opened, state: { ...opened.state, overlay: { ...overlay, selected } } } : opened
}

/** Changes a setting; without a value it is asked for. */
export const changeSetting = (state: State, key: string, value?: string): Step => {
  const theme = key !== "theme" ? undefined : value === usualWord ? "auto" : themeChoices.find((one) => one === value)
  const next: State = theme === undefined ? state : { ...state, appearance: { ...state.appearance, theme } }
  return step(next, { type: "setting", key, ...(value === undefined ? {} : { value }) })
}

/** The same where all of them are on the screen again behind it. */
const changeAmongAll = (state: State, key: string, value?: string): Step => changeSetting(showSettings(state, key).state, key, value)

/** Asks what a setting shall be. */
export const askSetting = (state: State, key: string): Step => {
  const setting = settingNamed(key)
  if (setting === undefined) return step(state, { type: "setting", key })
  const { about, takes, usual } = setting
  if (takes === "model") return pickFrom(state, "defaultModel", "Who shall answer at the start?")
  if (typeof takes === "string") return changeAmongAll(state, setting.key)
  const choice = (value: string): Pickable => ({ value: `${setting.key} ${value}`, label: value, about: value === usual ? "the usual one" : "" })
  const rest: ReadonlyArray<Pickable> = [{ value: `${setting.key} ${usualWord}`, label: usualWord, about: `${usual}; the file says nothing` }]
  return pickFrom(state, "setting", `${setting.key}: ${about}`, [...takes.map(choice), ...rest])
}

const ways = (message: string): ReadonlyArray<Pickable> => [
  { value: message, label: "The conversation alone", about: "files stay as they are" },
  { value: `${message} files`, label: "The conversation and the files", about: "shows first which files would go back" }
]

const pick = (state: State, what: ListName, value: string): Step => {
  const closed: State = { ...state, overlay: undefined }
  switch (what) {
    case "model":
      return step(closed, { type: "select", value })
    case "provider":
      return step(closed, { type: "provide", provider: value })
    case "login":
      return step(closed, { type: "login", provider: value })
    case "thinking":
      return step(closed, { type: "think", level: value })
    case "theme":
      return chooseTheme(closed, value)
    case "settings":
      return askSetting(closed, value)
    case "defaultModel":
      return changeAmongAll(closed, "default_model", value)
    case "setting": {
      const [key = "", word] = value.split(" ")
      return changeAmongAll(closed, key, word)
    }
    case "rewind":
      return pickFrom(closed, "rewindHow", "What goes back to before that message?", ways(value))
    case "rewindHow":
      return send(closed, `/rewind ${value}`)
    case "resume":
    case "fork":
      return send(closed, `/${what} ${value}`)
  }
}

/** Sessions can be called otherwise and thrown away where they are listed. */
const onSession = (state: State, picker: Picker, key: string, typed: string): Step | undefined => {
  const chosen = matching(picker)[picker.selected]
  const { doomed, rename, ...plain } = picker
  const stay = (change: Partial<Picker>): Step => step({ ...state, overlay: { ...plain, ...change } })
  if (rename !== undefined) {
    const means = listKeyOf(state.keymap, key)
    if (means === "escape" || chosen === undefined) return stay({})
    if (means === "enter") {
      const title = rename.text.trim()
      return title === "" ? stay({}) : step({ ...state, overlay: plain }, { type: "session", deed: { deed: "rename", id: chosen.value, title } })
    }
    const next = fieldKey(rename, key, typed)
    return stay({ rename: next ?? rename })
  }
  if (chosen === undefined) return undefined
  const action = sessionActionOf(state.keymap, key)
  if (action === "rename") return stay({ rename: fieldOf() })
  if (action !== "discard") return doomed === undefined ? undefined : onList(state, plain, key, typed)
  return doomed === chosen.value ? step({ ...state, overlay: plain }, { type: "session", deed: { deed: "delete", id: chosen.value } }) : stay({ doomed: chosen.value })
}

const onList = (state: State, picker: Picker, key: string, typed: string): Step => {
  const found = matching(picker)
  const stay = (change: Partial<Picker>): Step => step({ ...state, overlay: { ...picker, ...change } })
  const to = (selected: number): Step => stay({ selected: Math.max(0, Math.min(found.length - 1, selected)) })
  switch (listKeyOf(state.keymap, key)) {
    case "escape":
      return step({ ...state, overlay: undefined })
    case "up":
      return to(picker.selected - 1)
    case "down":
      return to(picker.selected + 1)
    case "pageUp":
      return to(picker.selected - page)
    case "pageDown":
      return to(picker.selected + page)
    case "enter": {
      const chosen = found[picker.selected]
      return chosen === undefined ? stay({}) : pick(state, picker.what, chosen.value)
    }
    default: {
      const filter = fieldKey(picker.filter, key, typed)
      return filter === undefined ? stay({}) : stay({ filter, selected: 0 })
    }
  }
}

/** The state after a key in a list. */
export const picked = (state: State, picker: Picker, key: string, typed: string): Step =>
  (picker.what === "resume" ? onSession(state, picker, key, typed) : undefined) ?? onList(state, picker, key, typed)
