/** Keys typed while the terminal shows none of them → a text. Pure. */

/** What has been typed so far, and how it ended, when it has. */
export interface Typing {
  readonly text: string
  readonly end?: "entered" | "closed" | "interrupted"
}

/** Arrows, function keys and the like. */
const sequences = /\u001b(\[[0-9;?]*[ -/]*[@-~]|O[@-~]|.)?/g

/** Takes more keys. Backspace and Ctrl-U take back; Enter ends it, Ctrl-D an empty one, Ctrl-C interrupts. What follows the end is dropped. */
export const typed = (before: Typing, keys: string): Typing => {
  let { text } = before
  for (const key of keys.replaceAll(sequences, "")) {
    switch (key) {
      case "\r":
      case "\n":
        return { text, end: "entered" }
      case "\u0003":
        return { text: "", end: "interrupted" }
      case "\u0004":
        return text === "" ? { text, end: "closed" } : { text, end: "entered" }
      case "\u007f":
      case "\b":
        text = [...text].slice(0, -1).join("")
        break
      case "\u0015":
        text = ""
        break
      default:
        if (key >= " ") text += key
    }
  }
  return { text }
}
