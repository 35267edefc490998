/**
 * Tells emoji from other characters, as `\p{RGI_Emoji}` does. The table of all of them, made at the first question, would
 * hold back the frame with the first call in it by as much as two frames take, and most questions are about one character
 * such as ✓: a smaller table knows those. The build puts it where the terminal's library has the large one (see `build.ts`).
 */

const single = /^[\p{Emoji_Presentation}--\p{Regional_Indicator}]$/v
let all: RegExp | undefined

/** Whether a text is one emoji. */
export const leanEmoji = {
  test: (text: string): boolean => {
    const isSingle = text.length === ((text.codePointAt(0) ?? 0) > 0xffff ? 2 : 1)
    if (isSingle) return single.test(text)
    all ??= new RegExp("^\\p{RGI_Emoji}$", "v")
    return all.test(text)
  }
}
