/** Text that somebody is to judge, with everything in it to be seen: nothing of it acts on a screen or takes no room there. Pure. */

/** What may be in a text that does not show. Most texts have none of it. */
const suspect = /[^\n -~\u00a1-\u00ac\u00ae-\u024f]| {41}/
const lineEnds = /\r\n/g
const controls = /[\u0000-\u0008\u000b-\u001f\u007f]/g
/** Lone halves, C1, separators, and what has no shape; what joins or styles a picture of people is left to it. */
const shapeless =
  /(?!(?<=[\p{Emoji}\p{Extended_Pictographic}])\ufe0f|(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic}))[\p{Default_Ignorable_Code_Point}\u0080-\u009f\u2028\u2029\ufff9-\ufffb]/gu
/** So many blanks may be an indentation or a column; more would push what follows out of sight. */
const blanks = /[\p{Zs}\u2800]{41,}/gu

const picture = (control: string): string => control === "\u007f" ? "␡" : String.fromCodePoint(0x2400 + (control.codePointAt(0) ?? 0))
const named = (character: string): string => `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`

/** Lines kept; controls as their pictures, characters without a shape by their numbers, and long runs of blanks counted. */
export const evident = (text: string): string =>
  !suspect.test(text)
    ? text
    : text.toWellFormed()
      .replaceAll(lineEnds, "\n")
      .replaceAll("\t", "  ")
      .replaceAll(controls, picture)
      .replaceAll(shapeless, named)
      .replaceAll(blanks, (run) => `⋯${run.length} blanks⋯`)

/** The same of something that is one line, such as the name of a file: line ends show, too. */
export const evidentLine = (text: string): string => evident(text.replaceAll("\r\n", "␍␊").replaceAll("\n", "␊"))
