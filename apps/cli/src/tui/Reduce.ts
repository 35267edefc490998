/** The reducer: the state after something happened, and what is to be done about it. It waits for nothing. Pure. */
import type { Command } from "./Command.ts"
import { openDialog } from "./Dialog.ts"
import type { Event } from "./Event.ts"
import { aspectOf, aspectsOfLiving, onAspect } from "./reduce/Aspects.ts"
import { press } from "./reduce/Buttons.ts"
import { onKey, onRest, shown } from "./reduce/Keys.ts"
import { onPaste, onPicture } from "./reduce/Pictures.ts"
import { say } from "./reduce/Send.ts"
import { submit } from "./reduce/Slash.ts"
import { add, closeRun, onAgentEvent } from "./reduce/Transcript.ts"
import type { State } from "./State.ts"
import { step, type Step } from "./Step.ts"

const joined = (...texts: ReadonlyArray<string>): string => texts.filter((text) => text !== "").join("\n\n")

/** A list with the value of a key changed; undefined takes it away. */
const withKey = <A>(list: ReadonlyArray<readonly [string, A]>, key: string, value: A | undefined): ReadonlyArray<readonly [string, A]> => {
  const at = list.findIndex(([one]) => one === key)
  if (value === undefined) return at < 0 ? list : list.filter(([one]) => one !== key)
  return at < 0 ? [...list, [key, value]] : list.map((pair, index) => index === at ? [key, value] : pair)
}

/** A run is over; what was not said goes on at once, or back to the person when they broke it off. */
const ended = (state: State, back: string, editorText: string): Step => {
  const idle: State = { ...closeRun(state), run: undefined, sent: undefined, waiting: { steering: [], followUp: [] } }
  const ring: ReadonlyArray<Command> = state.focused ? [] : [{ type: "ring" }]
  const compose = (text: string): ReadonlyArray<Command> => text === "" ? [] : [{ type: "compose", text, instead: false }]
  const [next, ...later] = state.later
  if (next !== undefined && state.run?.interrupted !== true) {
    const going = say({ ...idle, later }, next)
    return step(going.state, ...compose(joined(back, editorText)), ...going.commands)
  }
  const own = state.later.flatMap(({ literal, text }) => literal ? [] : [text])
  return step({ ...idle, later: [] }, ...compose(joined(state.sent ?? "", back, ...own, editorText)), ...ring)
}

const onFigures = (state: State, figures: State["figures"]): Step => {
  const aspects = aspectsOfLiving(state, figures)
  const titled = aspectOf(state, "title")
  const next: State = { ...state, figures, aspects }
  return titled !== undefined && aspectOf(next, "title") === undefined ? step(next, { type: "title", text: "" }) : step(next)
}

/** What happens beside keys. */
const onEvent = (state: State, event: Exclude<Event, { readonly type: "key" }>): Step => {
  switch (event.type) {
    case "agent":
      return step(onAgentEvent(state, event.event))
    case "asked":
      return step(shown({ ...state, dialogs: [...state.dialogs, openDialog(event.id, event.question)] }), ...(state.focused ? [] : [{ type: "ring" } as const]))
    case "withdrawn":
      return step(shown({ ...state, dialogs: state.dialogs.filter(({ id }) => id !== event.id) }))
    case "status":
      return step({ ...state, statuses: withKey(state.statuses, event.key, event.segments.length === 0 ? undefined : event.segments) })
    case "widget":
      return step({
        ...state,
        widgets: withKey(state.widgets, event.key, event.widget),
        // The draft goes with the modal.
        modal: state.modal?.key === event.key && event.widget === undefined ? undefined : state.modal,
        putAway: state.putAway.filter(({ asked, key }) => key !== event.key || (event.widget !== undefined && !asked)),
        pressed: state.pressed?.key === event.key && event.widget?.actions[state.pressed.action] === undefined ? undefined : state.pressed
      })
    case "notice":
      return step(add(state, { kind: "notice", level: event.level, text: event.text, ...(event.from === undefined ? {} : { from: event.from }) }))
    case "figures":
      return onFigures(state, event.figures)
    case "opened":
      if (state.session.id === "") return step({ ...state, session: { id: event.session, title: "" } })
      return step({ ...state, session: { id: event.session, title: "" }, tokens: { input: 0, output: 0, context: 0, run: 0, steps: 0 } }, { type: "load" })
    case "ready":
      return step({ ...state, answering: event.answering })
    case "working":
      return step({ ...state, working: event.working })
    case "loaded":
      return step(add({ ...state, session: { ...state.session, title: event.title } }, ...event.items))
    case "titled":
      return step({ ...state, session: { ...state.session, title: event.title } })
    case "returned": {
      const own = state.later.flatMap(({ literal, text }) => literal ? [] : [text])
      const text = joined(event.text, ...own)
      return text === "" ? step(state) : step({ ...state, later: state.later.filter(({ literal }) => literal) }, { type: "compose", text, instead: false })
    }
    case "ended":
      return ended(state, event.back, event.editorText)
    case "waiting":
      return step({ ...state, waiting: event.waiting })
    case "aside": {
      const at = state.asides.indexOf(event.text)
      return step({ ...state, asides: event.over ? state.asides.filter((_, index) => index !== at) : [...state.asides, event.text] })
    }
    case "said":
      return state.run === undefined ? say(state, event.words) : step({ ...state, later: [...state.later, event.words] })
    case "submitted":
      return submit({ ...state, leaving: undefined, dialogs: state.dialogs.map((dialog) => ({ ...dialog, beside: false })) }, event.text, event.as)
    case "items":
      return state.overlay?.kind === "picker" && state.overlay.what === event.what ? step({ ...state, overlay: { ...state.overlay, items: event.items } }) : step(state)
    case "gathered":
      return state.overlay?.kind === "search" ? step({ ...state, overlay: { ...state.overlay, items: event.items } }) : step(state)
    case "pasted":
      return onPaste(state, event.text)
    case "pictured":
      return onPicture(state, event.picture)
    case "written":
      return step(state, { type: "insert", text: event.text })
    case "clicked":
      return press(state, event.key, event.action)
    case "ground":
      return step({ ...state, appearance: { ...state.appearance, ground: event.ground } })
    case "aspect":
      return onAspect(state, event.extension, event.aspect, event.value)
    case "log":
      return state.overlay?.kind === "extensions" ? step({ ...state, overlay: { ...state.overlay, log: { key: event.key, lines: event.lines } } }) : step(state)
    case "shell":
      return step({
        ...state,
        live: state.live.map((item) =>
          item.kind === "call" && item.id === event.id
            ? { ...item, output: event.output, state: event.code === undefined ? "running" : event.code === 0 ? "done" : "failed" }
            : item)
      })
    case "focus":
      return step({ ...state, focused: event.focused })
    case "tick":
      return onRest(state.leaving !== undefined && state.now > state.leaving ? { ...state, leaving: undefined } : state)
  }
}

/** The state after `event`, which happened at `now` (milliseconds). */
export const reduce = (before: State, event: Event, now: number): Step => {
  const state = { ...before, now }
  return event.type === "key" ? onKey(state, event.key, event.typed, event.composer) : onEvent(state, event)
}

