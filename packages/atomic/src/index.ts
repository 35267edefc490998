export * from "./host/Launcher.ts"
export * from "./host/WorkerFiles.ts"
