/** What the host hands a worker before its first line. */
import { type MessagePort, parentPort, workerData } from "node:worker_threads"

/** `workerData`, as the host half writes it. */
export interface Boot {
  /** Lines both ways. */
  readonly port: MessagePort
  /** Blocking calls; see `HostSync`. */
  readonly syncPort: MessagePort
  readonly syncFlag: SharedArrayBuffer
  readonly pulse: SharedArrayBuffer
  /** Absolute path of the extension's module. */
  readonly entry: string
  /** The extension's key. */
  readonly name: string
  /** File for output that would go to our standard output or error. */
  readonly log: string
  /** What the extension sees as `process.argv[1]`, for those that start us. */
  readonly bin: string
  /** Lives of this extension so far, this one included. */
  readonly generation: number
  /** Import specifier → address of the module that stands behind it. */
  readonly aliases: Readonly<Record<string, string>>
}

/** Takes what the host handed over, so that the extension does not see the ports. */
export const takeBoot = (): Boot => {
  const boot: Boot = { ...workerData }
  for (const key of Object.keys(workerData)) delete workerData[key]
  return boot
}

/** Calls `act` with what the host hands over for each further generation in this worker. It keeps no worker running. */
export const onNextBoot = (act: (boot: Boot) => void): void => {
  parentPort?.on("message", act)
  parentPort?.unref()
}
