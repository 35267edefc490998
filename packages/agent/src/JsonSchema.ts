/** The part of the validator that is used, in a chunk of its own: it is loaded when a call is to be checked. */
export { Check, Errors } from "typebox/schema"
