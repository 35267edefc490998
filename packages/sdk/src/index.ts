export * from "./Client.ts"
export * from "./ClientError.ts"
export * from "./ClientPromise.ts"
export type { ClientProcess } from "./ClientProcess.ts"
