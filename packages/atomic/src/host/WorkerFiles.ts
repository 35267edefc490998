/** Where the worker half lies: its sources while developing, files beside the program in the product. */

/** Module behind import specifiers, by its file's name without ending. */
const specifiers: Readonly<Record<string, ReadonlyArray<string>>> = {
  atomic: ["@bastani/atomic", "@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent"],
  ai: ["", "/compat", "/oauth", "/providers/all"].flatMap((path) =>
    ["@bastani/pi-ai", "@earendil-works/pi-ai", "@mariozechner/pi-ai"].map((name) => name + path)),
  tui: ["@earendil-works/pi-tui", "@mariozechner/pi-tui", "@bastani/pi-tui"],
  typebox: ["typebox", "@sinclair/typebox"],
  "typebox-value": ["typebox/value", "@sinclair/typebox/value"],
  "typebox-compile": ["typebox/compile", "@sinclair/typebox/compiler"],
  sdk: ["@nimlet/sdk"],
  effect: ["effect"],
  empty: ["@earendil-works/pi-agent-core", "@mariozechner/pi-agent-core", "@bastani/pi-agent-core"]
}

/** The names of the modules, for whoever bundles them. */
export const workerModules: ReadonlyArray<string> = Object.keys(specifiers)

/** The worker half as files. */
export interface WorkerFiles {
  /** What a worker runs. */
  readonly entry: URL
  /** The module of that name, one of `workerModules`. */
  readonly module: (name: string) => URL
}

/** The ending of this package's files: of its sources, or of what they were built into. */
const ending = import.meta.url.endsWith(".ts") ? "ts" : "js"

/** The worker half as it stands in this package. */
export const workerSources: WorkerFiles = {
  entry: new URL(`../worker/main.${ending}`, import.meta.url),
  module: (name) => new URL(`../worker/modules/${name}.${ending}`, import.meta.url)
}

/** Import specifier → address. */
export const aliasesOf = (files: WorkerFiles): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(specifiers).flatMap(([name, all]) => all.map((specifier) => [specifier, files.module(name).href])))
