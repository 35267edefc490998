/** The shell's grammar, in a chunk of its own: it is loaded when a person may be asked about a command. */
export { parse } from "unbash"
