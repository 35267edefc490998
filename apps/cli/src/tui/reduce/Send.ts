/** Sends words to the agent. Pure. */
import type { Picture, State, Words } from "../State.ts"
import { step, type Step } from "../Step.ts"

/** The pictures that words name, each once. */
const picturesIn = (text: string, pictures: ReadonlyArray<Picture>): ReadonlyArray<Picture> => pictures.filter(({ id }) => text.includes(`[image ${id}]`))

/** Words with the pictures that they name. */
export const wordsOf = (state: State, text: string, literal = false): Words => {
  const pictures = literal ? [] : picturesIn(text, state.pictures)
  return { text, literal, ...(pictures.length === 0 ? {} : { pictures }) }
}

/** Sends words to the agent, which is idle. */
export const say = (state: State, words: Words): Step =>
  step({ ...state, run: { since: state.now, interrupted: false }, sent: words.saved === true ? "" : words.text, tokens: { ...state.tokens, run: 0 } }, { type: "prompt", words })

/** Sends what was typed, with the pictures that it names. */
export const send = (state: State, text: string): Step => say(state, wordsOf(state, text))
