export * from "./Content.ts"
