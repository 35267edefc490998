/** What reads markdown. Its tables of characters take as long to make as half of the first frame, which has no markdown in it. */
import { Markdown, type MarkdownTheme } from "@earendil-works/pi-tui"
import { withinMillis } from "@nimlet/agent"
import { Result } from "effect"

/** The library takes a text apart by recursion, and may try each mark against each other: others write the text, and no key is read meanwhile. */
const longestDrawing = 300
/** Of so few characters even the worst text is drawn in a blink, and the limit would cost more than most drawings do. */
const fewCharacters = 800

/** Draws a text at a width; undefined when the library cannot in the time there is, and then the drawer is not used any more. */
export type MarkdownDrawer = (text: string, width: number) => ReadonlyArray<string> | undefined

/** A drawer for a text that grows: what has not changed since the last time is not drawn again. */
export const makeMarkdown = (theme: MarkdownTheme): MarkdownDrawer => {
  const markdown = new Markdown("", 0, 0, theme)
  return (text, width) => {
    const draw = () => {
      markdown.setText(text)
      return markdown.render(width).map((line) => line.trimEnd())
    }
    return text.length <= fewCharacters ? draw() : Result.getOrUndefined(withinMillis(longestDrawing, draw))
  }
}
