/** What stands behind `@nimlet/sdk`. */
export * from "@nimlet/sdk"
