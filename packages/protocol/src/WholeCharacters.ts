/**
 * Texts of whole characters. A cut by length, or a chunk of a stream, leaves half a surrogate pair, which is no character:
 * strict parsers of JSON refuse the line that has it, providers the request, and a file holds something else.
 */

/** An escape of JSON from its backslash on: a pair of surrogates, half of one, or any other. */
const escape = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u[dD][89a-fA-F][\da-fA-F]{2})|[^])/g

/** The same JSON text with U+FFFD for each half of a character. `JSON.stringify` writes such halves as escapes, and nothing else so. */
export const wholeCharacters = (json: string): string =>
  json.includes("\\ud") || json.includes("\\uD") ? json.replaceAll(escape, (whole, half: string | undefined) => half === undefined ? whole : "\\ufffd") : json

/** Whether a text ends in the first half of a character. */
export const endsInHalf = (text: string): boolean => {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff
}

/** The beginning of a text, at most `most` units of its length, and no half of a character at its end. */
export const beginningOf = (text: string, most: number): string => {
  const cut = text.slice(0, most)
  return cut.length < text.length && endsInHalf(cut) ? cut.slice(0, -1) : cut
}
