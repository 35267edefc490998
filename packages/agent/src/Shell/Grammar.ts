/** The shell's grammar, in a chunk of its own: it is loaded with the first command. */
export { forEachChild, parse } from "unbash"
