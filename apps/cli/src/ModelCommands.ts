/** What `/models` tells and does. Its code is loaded when it is asked for. */
import { Effect, type FileSystem } from "effect"
import type { ModelCommands, Settings } from "@nimlet/agent"
import type { Extensions } from "@nimlet/extension"
import type { Host } from "./Host.ts"
import { withOffered } from "./Model.ts"

/** The models of a run, those of its extensions among them. */
export const modelCommands = Effect.fnUntraced(function*(host: Host, settings: Settings) {
  const context = yield* Effect.context<Extensions | FileSystem.FileSystem>()
  const commands: ModelCommands = {
    list: Effect.fnUntraced(function*(words: ReadonlyArray<string>) {
      const { aboutModel, modelText, withWords } = yield* Effect.promise(() => import("./report/ModelReport.ts"))
      const all = yield* withOffered(host, settings, ({ list }) => list)
      return modelText(withWords(all.map(aboutModel), words), words).trimEnd()
    }, Effect.provideContext(context)),
    refresh: Effect.promise(() => import("./ModelList.ts")).pipe(
      Effect.flatMap(({ refreshedText, refreshModels }) => Effect.map(refreshModels(host, settings), refreshedText)),
      Effect.provideContext(context)
    )
  }
  return commands
})
