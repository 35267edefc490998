/** What stands behind `typebox` and `@sinclair/typebox`. */
export * from "typebox"
export { default } from "typebox"
