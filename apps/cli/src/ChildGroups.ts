/** The process groups of tools we have started and not yet ended, so that an end at once can take them with it. */
import { Effect, Layer } from "effect"
import { ChildProcessSpawner } from "effect/process"

/** Starts processes as the spawner beneath does, and keeps their ids in `groups` for as long as their scope is open. */
export const layerTracked = (groups: Set<number>): Layer.Layer<ChildProcessSpawner.ChildProcessSpawner, never, ChildProcessSpawner.ChildProcessSpawner> =>
  Layer.effect(
    ChildProcessSpawner.ChildProcessSpawner,
    Effect.map(ChildProcessSpawner.ChildProcessSpawner, (spawner) =>
      ChildProcessSpawner.make((command) =>
        Effect.acquireRelease(
          Effect.succeed({ pid: 0 }),
          ({ pid }) => Effect.sync(() => groups.delete(pid))
        ).pipe(
          Effect.flatMap((kept) =>
            Effect.tap(spawner.spawn(command), ({ pid }) => Effect.sync(() => {
              kept.pid = pid
              groups.add(pid)
            })))
        ))
    ))
