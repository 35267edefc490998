/** What stands behind `typebox/value`. */
export * from "typebox/value"
export { default } from "typebox/value"
