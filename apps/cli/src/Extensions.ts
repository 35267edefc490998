/** How extensions are brought to life: programs at once, modules by a part that is loaded when there is one. */
import { Context, Effect, FileSystem, Layer, Path } from "effect"
import { Extensions, Launcher, openChildProcess } from "@nimlet/extension"
import { ChildProcessSpawner } from "effect/process"
import type { WorkerFiles } from "@nimlet/atomic"
import type { Host } from "./Host.ts"

/** The worker half beside this program; none when it runs from its sources, which have their own. */
const bundled: WorkerFiles | undefined = import.meta.url.endsWith(".mjs")
  ? {
    entry: new URL("./worker.mjs", import.meta.url),
    module: (name) => new URL(`./worker-${name}.mjs`, import.meta.url)
  }
  : undefined

type Services = ChildProcessSpawner.ChildProcessSpawner | FileSystem.FileSystem | Path.Path

const launcher = (host: Host): Layer.Layer<Launcher, never, Services> =>
  Layer.effect(
    Launcher,
    Effect.gen(function*() {
      const path = yield* Path.Path
      const services = Context.pick(ChildProcessSpawner.ChildProcessSpawner, FileSystem.FileSystem, Path.Path)(yield* Effect.context<Services>())
      const cache = path.join(host.home, ".nimlet", "cache", "modules")
      const workers = yield* Effect.cached(
        Effect.promise(() => import("@nimlet/atomic")).pipe(
          Effect.flatMap(({ makeWorkerLauncher }) => makeWorkerLauncher({ cache, ...(bundled === undefined ? {} : { files: bundled }) })),
          Effect.provideContext(services)
        )
      )
      return {
        open: (launch) =>
          launch.runsAs === "thread"
            ? Effect.flatMap(workers, ({ open }) => open(launch))
            : Effect.provideContext(openChildProcess(launch), services)
      }
    })
  )

/** The extensions of a run, of all families. */
export const layerExtensions = (host: Host): Layer.Layer<Extensions, never, Services> =>
  Extensions.layerNoDeps.pipe(Layer.provide(launcher(host)))
