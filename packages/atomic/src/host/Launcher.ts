/** Brings every family to life: programs as child processes, modules as workers. */
import { Context, Effect, FileSystem, Layer, Path } from "effect"
import { ChildProcessSpawner } from "effect/process"
import { Launcher, openChildProcess } from "@nimlet/extension"
import { Transpiler } from "./Transpile.ts"
import { aliasesOf, type WorkerFiles, workerSources } from "./WorkerFiles.ts"
import { openWorker, type WorkerHost } from "./WorkerLife.ts"

/** Where things lie and what a worker may use. */
export interface LauncherOptions {
  /** Folder for modules turned into JavaScript. */
  readonly cache: string
  /** Default: the sources of this package. */
  readonly files?: WorkerFiles
  /** Limit of a worker's JavaScript heap. Default 256. */
  readonly heapMegabytes?: number
  /** Limit of what a worker holds outside it (buffers). Default 512. */
  readonly outsideMegabytes?: number
}

type Services = ChildProcessSpawner.ChildProcessSpawner | FileSystem.FileSystem | Path.Path

const takeServices = Effect.map(
  Effect.context<Services>(),
  Context.pick(ChildProcessSpawner.ChildProcessSpawner, FileSystem.FileSystem, Path.Path)
)

/** Launches modules; what runs under one launcher shares a bus and what has been turned into JavaScript. */
export const makeWorkerLauncher = (options: LauncherOptions): Effect.Effect<Launcher["Service"], never, Services> =>
  Effect.map(takeServices, (services) => {
    const files = options.files ?? workerSources
    const host: WorkerHost = {
      entry: files.entry,
      aliases: aliasesOf(files),
      transpiler: new Transpiler(options.cache),
      bus: new Map(),
      holders: new Map(),
      scoped: new Map(),
      lives: new Map(),
      heapMegabytes: options.heapMegabytes ?? 256,
      outsideMegabytes: options.outsideMegabytes ?? 512
    }
    return { open: (launch) => Effect.provideContext(openWorker(host, launch), services) }
  })

/** Launches programs and modules, told apart by `runsAs` of their family. */
export const layerLauncher = (options: LauncherOptions): Layer.Layer<Launcher, never, Services> =>
  Layer.effect(
    Launcher,
    Effect.gen(function*() {
      const services = yield* takeServices
      const workers = yield* makeWorkerLauncher(options)
      return {
        open: (launch) => launch.runsAs === "thread" ? workers.open(launch) : Effect.provideContext(openChildProcess(launch), services)
      }
    })
  )
