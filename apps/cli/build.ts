/**
 * Builds the product: `apps/cli/dist/nimlet.mjs` and its chunks. Node runs this file as it stands (type stripping).
 *
 * Chunks carry a hash in their name and are moved in before the entry that names them, so a process that starts during
 * a build finds either the old product or the new one, and one that runs already still finds the chunks it has not
 * loaded yet: those of an earlier build are cleared a day later.
 *
 *     node apps/cli/build.ts [--readable] [--clean] [--out FOLDER]
 *
 * `--readable` keeps names and lines, for a profile; `--clean` leaves nothing of earlier builds, for a package.
 */
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs"
import { basename, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { rolldown } from "rolldown"
import { workerModules } from "@nimlet/atomic"
import manifest from "./package.json" with { type: "json" }
import { markStartFunctions } from "./StartFunctions.ts"

interface Entry {
  /** What its chunks are called by, and the file in `dist` of its only input, without `.mjs`. */
  readonly name: string
  /** File in `dist`, without `.mjs` → source. */
  readonly inputs: Readonly<Record<string, string>>
  readonly executable: boolean
}

const folder = import.meta.dirname
const { version } = manifest
const worker = (file: string): string => fileURLToPath(new URL(`worker/${file}.ts`, import.meta.resolve("@nimlet/atomic")))

/**
 * Each entry is a build of its own, so that none pulls another's code into its start. The modules behind the packages that
 * extensions import are built with the worker they share state with.
 */
const entries: ReadonlyArray<Entry> = [
  { name: "nimlet", inputs: { nimlet: join(folder, "src/main.ts") }, executable: true },
  {
    name: "worker",
    inputs: {
      worker: worker("main"),
      ...Object.fromEntries(workerModules.map((name) => [`worker-${name}`, worker(`modules/${name}`)]))
    },
    executable: false
  }
]

const { values } = parseArgs({ options: { out: { type: "string" }, readable: { type: "boolean", default: false }, clean: { type: "boolean", default: false } } })
const dist = values.out ?? join(folder, "dist")
const shebang = "#!/usr/bin/env node"
const day = 24 * 60 * 60 * 1000

/**
 * What other packages do as soon as they are loaded, and the first frame and a short run have no use for, is done when it is
 * used first: `node:crypto` for names of temporary files, and the table of all emoji, which most questions do not need even then.
 */
const late = {
  name: "late",
  resolveId: (source: string, importer?: string) =>
    source === "node:crypto" && importer !== undefined && basename(importer) === "NodeFileSystem.js" ? join(folder, "src/LateCrypto.ts") : undefined,
  transform: (code: string, id: string) => {
    if (!/[\\/]pi-tui[\\/]dist[\\/]utils\.js$/.test(id)) return undefined
    const changed = code.replace(/^const (\w+) = .*RGI_Emoji.*;$/m, `import { leanEmoji as $1 } from ${JSON.stringify(join(folder, "src/tui/LeanEmoji.ts"))}`)
    if (changed === code) throw new Error(`${id} has no table of all emoji any more`)
    return changed
  }
}

const build = async (entry: Entry, out: string): Promise<void> => {
  for (const source of Object.values(entry.inputs)) if (!existsSync(source)) throw new Error(`the entry ${relative(folder, source)} is missing`)
  // A first line that the source has already is kept by rolldown.
  const startsProgram = entry.executable && Object.values(entry.inputs).every((source) => !readFileSync(source, "utf8").startsWith("#!"))
  const bundle = await rolldown({
    input: { ...entry.inputs },
    platform: "node",
    plugins: [late],
    // Its binary lies in a package of its own per platform; it is imported at first use, where it is installed.
    external: ["@vscode/ripgrep"],
    // What is loaded later takes along what it alone uses of a package of many parts.
    treeshake: { moduleSideEffects: [{ test: /[\\/]node_modules[\\/](@earendil-works[\\/]pi-tui|marked|marked-cjk-friendly)[\\/]/, sideEffects: false }] },
    // What the web's classes cost the AI SDK. The first mention of `Headers` would make Node load all of its `fetch`, which
    // takes as long as a fifth of a short run; its streams cost as much as a fifth of a step.
    transform: {
      define: { NIMLET_VERSION: JSON.stringify(version) },
      inject: {
        Headers: [join(folder, "src/HeaderList.ts"), "HeaderList"],
        "Intl.Segmenter": [join(folder, "src/tui/LeanSegmenter.ts"), "LeanSegmenter"],
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
    minify: !values.readable,
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
  await markStartFunctions(out, "nimlet.mjs").catch((error: unknown) => {
    // A program under work may not run yet and is wanted all the same, only slower to start; a package of it is not.
    if (values.clean) throw error
    console.warn(error instanceof Error ? error.message : error)
  })
  cpSync(fileURLToPath(new URL("../schema", import.meta.resolve("@nimlet/protocol"))), join(out, "schema"), { recursive: true })
  // Helpers of the terminal that are no JavaScript; it looks for them beside its code.
  cpSync(fileURLToPath(new URL("../native", import.meta.resolve("@earendil-works/pi-tui"))), join(out, "native"), {
    recursive: true,
    filter: (path) => statSync(path).isDirectory() || path.endsWith(".node")
  })
  const isEntry = (file: string) => entries.some(({ inputs }) => file.endsWith(".mjs") && file.slice(0, -4) in inputs)
  const built = readdirSync(out).sort((a, b) => Number(isEntry(a)) - Number(isEntry(b)))
  for (const folder of ["native", "schema"]) rmSync(join(dist, folder), { recursive: true, force: true })
  for (const file of built) renameSync(join(out, file), join(dist, file))
  for (const file of readdirSync(dist)) {
    if (built.includes(file)) continue
    const path = join(dist, file)
    if (path !== out && (values.clean || Date.now() - statSync(path).mtimeMs > day)) rmSync(path, { recursive: true, force: true })
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  rmSync(out, { recursive: true, force: true })
}
