/** What stands behind `typebox/compile`. */
export * from "typebox/compile"
export { default } from "typebox/compile"
