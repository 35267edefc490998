/** `nimlet models list` and `nimlet models refresh`: what is known of models, and how that is brought up to date. */
import { Effect, Path, Schema } from "effect"
import { loadSettings, type Settings } from "@nimlet/agent"
import { Diagnostics } from "@nimlet/extension"
import { presets, type Refreshed, refreshCatalog } from "@nimlet/provider"
import { whileStarted } from "./ExtensionList.ts"
import type { Invocation } from "./Flags.ts"
import type { Host } from "./Host.ts"
import { withOffered } from "./Model.ts"
import { Output } from "./Output.ts"
import { aboutModel, ModelReport, modelText, withWords } from "./report/ModelReport.ts"

const encode = Schema.encodeSync(Schema.fromJsonString(Schema.Struct({ models: Schema.Array(ModelReport) })))

/** Lists models on standard output, those that extensions register among them. Gives the exit code. */
export const listModels = Effect.fnUntraced(function*(invocation: Invocation, host: Host) {
  const output = yield* Output
  const all = yield* whileStarted(invocation, host, (settings, warnings) =>
    Effect.andThen(
      Effect.forEach(warnings, (warning) => output.err(`${warning}\n`), { discard: true }),
      withOffered(host, settings, ({ list }) => list)
    )).pipe(
      Effect.provideService(Diagnostics, ({ message }) => output.err(`${message}\n`))
    )
  const models = withWords(all.map(aboutModel), invocation.operands)
  yield* output.out(invocation.json ? `${encode({ models })}\n` : modelText(models, invocation.operands))
  return 0
})

/** Fetches the catalogue that the settings name, or the public one, for every provider that is known without extensions. */
export const refreshModels = (host: Host, settings: Settings) => {
  const url = settings.models?.catalogue_url
  return refreshCatalog({
    home: host.home,
    fetch: host.fetch,
    providers: [...new Set([...Object.keys(presets), ...Object.keys(settings.providers ?? {})])],
    ...(url === undefined ? {} : { url })
  })
}

/** What a refresh came to, in a sentence. */
export const refreshedText = ({ file, models, skipped, source }: Refreshed): string =>
  `Models from ${source}: ${Object.entries(models).map(([provider, count]) => `${provider} ${count}`).join(", ")}` +
  `${skipped === 0 ? "" : `; ${skipped} could not be read and are left out`}. Kept in ${file}.`

/** Refreshes the catalogue. Gives the exit code. */
export const refreshAndTell = Effect.fnUntraced(function*(host: Host) {
  const output = yield* Output
  const path = yield* Path.Path
  const settings = yield* loadSettings(path.join(host.home, ".nimlet", "config.json"))
  return yield* Effect.matchEffect(refreshModels(host, settings), {
    onFailure: ({ message }) => Effect.as(output.err(`${message}\n`), 1),
    onSuccess: (done) => Effect.as(output.out(`${refreshedText(done)}\n`), 0)
  })
})
