/** Styles of the screen: the sixteen colours that every terminal has in the person's own shades. Pure. */
import type { TextStyle } from "@nimlet/protocol"

/** One style. */
export type Style = (text: string) => string

/** Which of the two grounds the colours stand on. */
export type ThemeName = "dark" | "light"

/** What a person may choose: one of the two, or what the terminal says. */
export const themeChoices = ["auto", "dark", "light"] as const
/** What a person may choose. */
export type ThemeChoice = (typeof themeChoices)[number]

/** The styles; those of colour do nothing where none is wanted. */
export interface Palette {
  readonly bold: Style
  readonly italic: Style
  readonly underline: Style
  readonly struck: Style
  readonly inverse: Style
  readonly dim: Style
  readonly red: Style
  readonly green: Style
  readonly yellow: Style
  readonly accent: Style
  readonly purple: Style
  /** The styles that extensions name. */
  readonly styled: { readonly [S in TextStyle]: Style }
}

const paint = (on: number, off: number): Style => (text) => text === "" ? "" : `\u001b[${on}m${text}\u001b[${off}m`
const plain: Style = (text) => text

/** The styles for a ground, without colours where the terminal or `NO_COLOR` does not want them. */
export const makePalette = ({ colours, theme }: { readonly colours: boolean; readonly theme: ThemeName }): Palette => {
  const colour = (code: number) => colours ? paint(code, 39) : plain
  const [bold, red, green] = [paint(1, 22), colour(31), colour(32)]
  const dim = !colours ? plain : theme === "dark" ? paint(2, 22) : colour(90)
  const yellow = colour(theme === "dark" ? 33 : 35)
  const accent = colour(theme === "dark" ? 36 : 34)
  return {
    bold,
    italic: paint(3, 23),
    underline: paint(4, 24),
    struck: paint(9, 29),
    inverse: paint(7, 27),
    dim,
    red,
    green,
    yellow,
    accent,
    purple: colour(35),
    styled: { normal: plain, muted: dim, accent, success: green, warning: yellow, error: red, emphasis: bold }
  }
}

/** The ground that the colours stand on. */
export const themeOf = ({ ground, theme }: { readonly theme: ThemeChoice; readonly ground: ThemeName }): ThemeName => theme === "auto" ? ground : theme
