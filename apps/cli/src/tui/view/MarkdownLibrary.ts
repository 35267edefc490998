/** What reads markdown. Its tables of characters take as long to make as half of the first frame, which has no markdown in it. */
import { Markdown, type MarkdownTheme } from "@earendil-works/pi-tui"

/** A text that is drawn as markdown, and again when it has changed. */
export const makeMarkdown = (theme: MarkdownTheme): Markdown => new Markdown("", 0, 0, theme)
