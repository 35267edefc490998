/** How much of an extension's words a model or a person is given: as much as of a tool's answer (50 KB, 2,000 lines). Pure. */

const mostBytes = 50 * 1024
const mostLines = 2_000

const encoder = new TextEncoder()

/** Where line `mostLines` ends. */
const endOfLines = (text: string): number => {
  let end = -1
  for (let line = 0; line < mostLines; line++) {
    end = text.indexOf("\n", end + 1)
    if (end === -1) return text.length
  }
  return end
}

/** The beginning of a text that is too long, with a word about what is missing; any other as it is. */
export const boundedWords = (text: string): string => {
  const lines = endOfLines(text)
  // A text of so few units cannot have more bytes.
  if (lines === text.length && text.length * 3 <= mostBytes) return text
  const { read } = encoder.encodeInto(text.slice(0, lines), new Uint8Array(mostBytes))
  return read === text.length ? text : `${text.slice(0, read)}\n[... ${text.length - read} characters dropped ...]`
}
