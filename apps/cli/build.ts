/**
 * Builds the product: `apps/cli/dist/nimlet.mjs` and its chunks. Node runs this file as it stands (type stripping).
 *
 * Chunks carry a hash in their name and are moved in before the entry that names them, so a process that starts during
 * a build finds either the old product or the new one, and one that runs already still finds the chunks it has not
 * loaded yet: those of an earlier build are cleared a day later.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"

interface Entry {
  /** The file in `dist`, without `.mjs`. */
  readonly name: string
  readonly source: string
  readonly executable: boolean
}

/** Each entry is a build of its own, so that none pulls another's code into its start. */
const entries: ReadonlyArray<Entry> = [
  { name: "nimlet", source: "src/main.ts", executable: true }
]

const folder = import.meta.dirname
const dist = join(folder, "dist")
const shebang = "#!/usr/bin/env node"
const day = 24 * 60 * 60 * 1000

const build = async (entry: Entry, out: string): Promise<void> => {
  const input = join(folder, entry.source)
  if (!existsSync(input)) throw new Error(`the entry apps/cli/${entry.source} is missing`)
  // A first line that the source has already is kept by rolldown.
  const startsProgram = entry.executable && !readFileSync(input, "utf8").startsWith("#!")
  const bundle = await rolldown({
    input: { [entry.name]: input },
    platform: "node",
    // Its binary lies in a package of its own per platform; it is imported at first use, where it is installed.
    external: ["@vscode/ripgrep"],
    // What the web's classes cost the AI SDK. The first mention of `Headers` would make Node load all of its `fetch`, which
    // takes as long as a fifth of a short run; its streams cost as much as a fifth of a step.
    transform: {
      inject: {
        Headers: [join(folder, "src/HeaderList.ts"), "HeaderList"],
        ReadableStream: [join(folder, "src/streams/LeanReadable.ts"), "LeanReadable"],
        TransformStream: [join(folder, "src/streams/LeanTransform.ts"), "LeanTransform"],
        TextDecoderStream: [join(folder, "src/streams/LeanTransform.ts"), "LeanTextDecoder"]
      }
    },
    onLog: (level, log, handle) => {
      if (log.code === "UNRESOLVED_IMPORT") throw new Error(log.message)
      handle(level, log)
    }
  })
  await bundle.write({
    dir: out,
    format: "esm",
    minify: true,
    entryFileNames: "[name].mjs",
    chunkFileNames: `${entry.name}-[name]-[hash].mjs`,
    // What every run needs is one file, however many of the later chunks need a part of it, too.
    codeSplitting: { groups: [{ name: "Program", test: /src[\\/]Program\.ts$/ }] },
    ...(startsProgram ? { banner: (chunk) => (chunk.isEntry ? shebang : "") } : {})
  })
  await bundle.close()
  if (entry.executable) chmodSync(join(out, `${entry.name}.mjs`), 0o755)
}

mkdirSync(dist, { recursive: true })
const out = mkdtempSync(join(dist, ".new-"))
try {
  for (const entry of entries) await build(entry, out)
  const isEntry = (file: string) => entries.some(({ name }) => file === `${name}.mjs`)
  const built = readdirSync(out).sort((a, b) => Number(isEntry(a)) - Number(isEntry(b)))
  for (const file of built) renameSync(join(out, file), join(dist, file))
  for (const file of readdirSync(dist)) {
    if (built.includes(file)) continue
    const path = join(dist, file)
    if (path !== out && Date.now() - statSync(path).mtimeMs > day) rmSync(path, { recursive: true, force: true })
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  rmSync(out, { recursive: true, force: true })
}
