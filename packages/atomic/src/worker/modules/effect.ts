/** What stands behind `effect`: the one that `@nimlet/sdk` here is made with. */
export * from "effect"
