/**
 * The types of what `#highlight` names. The library's own bring the web's into the whole program, where `Headers` and
 * others mean something else.
 */

/** What is used of the library. */
export interface HighlightLibrary {
  readonly getLanguage: (name: string) => unknown
  readonly highlight: (code: string, options: { readonly language: string; readonly ignoreIllegals: boolean }) => { readonly value: string }
}

declare const library: HighlightLibrary
export default library
