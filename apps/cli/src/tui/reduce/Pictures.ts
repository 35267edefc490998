/** Pictures that go along with words: attached, or dragged to the terminal as a file. Pure. */
import type { Picture, State } from "../State.ts"
import { left, step, type Step } from "../Step.ts"

/** Those of the latest are kept: words that come back still mean them. */
const kept = 20

/** The state with one more picture, named where the cursor is. */
export const onPicture = (state: State, picture: Omit<Picture, "id">): Step => {
  const id = (state.pictures.at(-1)?.id ?? 0) + 1
  return step({ ...state, pictures: [...state.pictures, { ...picture, id }].slice(-kept) }, { type: "insert", text: `[image ${id}] ` })
}

const shape = /^(?:file:\/\/)?(["']?)(\/(?:\\.|[^\n\\])+\.(?:png|jpe?g|gif|webp))\1\s*$/i

/** The path of a picture, as terminals write a file that was dragged to them; undefined for other texts. */
const picturePath = (text: string): string | undefined => {
  const [, , path] = shape.exec(text) ?? []
  if (path === undefined || !text.startsWith("file://")) return path?.replaceAll(/\\(.)/g, "$1")
  try {
    return decodeURI(path)
  } catch {
    return undefined
  }
}

/** The state after a text was pasted at once. */
export const onPaste = (state: State, text: string): Step => {
  const path = state.dialogs.length > 0 || state.overlay !== undefined ? undefined : picturePath(text)
  return path === undefined ? left(state) : step(state, { type: "picture", file: { path, text } })
}
