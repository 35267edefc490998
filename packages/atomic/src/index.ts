export { FileQueue } from "./host/FileLeases.ts"
export * from "./host/Launcher.ts"
export * from "./host/WorkerFiles.ts"
