/** Looks at the folders of extensions and starts nothing. */
import { Effect, FileSystem, Path } from "effect"
import { discover } from "@nimlet/extension"
import { chooseExtensions, unsearchedRoots } from "./ExtensionChoice.ts"
import type { ExtensionFacts, RootListing } from "./report/ExtensionReport.ts"

/** What is there, whether it is started or not. */
export type ExtensionSurvey = Pick<ExtensionFacts, "choice" | "discoveryWarnings" | "found" | "listings" | "passedOver" | "unsearched">

const manifestName = "extension.json"

const realOf = Effect.fnUntraced(function*(path: string) {
  const fs = yield* FileSystem.FileSystem
  return { path, real: yield* Effect.orElseSucceed(fs.realPath(path), () => path) }
})

/** The extensions in a root. One that is not there, or cannot be read, has none. */
const listingOf = Effect.fnUntraced(function*(root: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const names = yield* Effect.orElseSucceed(fs.readDirectory(root), () => [])
  const folders = names.sort().map((name) => path.join(root, name))
  const holds = (folder: string) => Effect.orElseSucceed(fs.exists(path.join(folder, manifestName)), () => false)
  const kept = yield* Effect.filter(folders, holds, { concurrency: 16 })
  const listing: RootListing = { root, folders: yield* Effect.forEach(kept, realOf, { concurrency: 16 }) }
  return listing
})

/** Surveys what `chooseExtensions` chooses and what it leaves out. */
export const surveyExtensions = Effect.fnUntraced(function*(about: Omit<Parameters<typeof chooseExtensions>[0], "path">) {
  const path = yield* Path.Path
  const choice = chooseExtensions({ ...about, path })
  const named = choice.paths.map((root) => Effect.map(
    realOf(path.basename(root) === manifestName ? path.dirname(root) : root),
    (folder): RootListing => ({ root, folders: [folder] })
  ))
  const listings = yield* Effect.all([...choice.roots.map(({ path: root }) => listingOf(root)), ...named], { concurrency: 8 })
  const unsearched = yield* Effect.forEach(unsearchedRoots({ ...about, path }), (one) =>
    Effect.map(listingOf(one.root.path), ({ folders }) => ({ ...one, count: folders.length })), { concurrency: 8 })
  const { found, passedOver, warnings } = yield* discover({ roots: choice.roots, paths: choice.paths })
  const survey: ExtensionSurvey = { choice, discoveryWarnings: warnings, found, listings, passedOver, unsearched }
  return survey
})
