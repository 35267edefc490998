/** What completes words in the composer: commands after a slash, what stands behind them, files after an at sign. */
import { type AutocompleteItem, type AutocompleteProvider, fuzzyFilter } from "@earendil-works/pi-tui"
import { Effect, FileSystem, Path, Schema } from "effect"
import { builtinCommands } from "@nimlet/agent"
import { clean, cleanLine } from "./Clean.ts"
import { themeChoices } from "./Palette.ts"
import { screenSettings } from "./Setting.ts"
import { offeredCommands, screenCommands } from "./reduce/Slash.ts"
import type { State } from "./State.ts"

const shown = 20
/** How many names are looked at in a folder tree, and how deep. */
const most = 4_000
const deepest = 8
const skipped = new Set([".git", "node_modules", "dist", "target", "__pycache__", ".venv"])

/** Files and folders below a folder, the nearest first; folders end with a slash. */
export const filesBelow = Effect.fnUntraced(function*(root: string): Effect.fn.Return<ReadonlyArray<string>, never, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const found: Array<string> = []
  let level: ReadonlyArray<string> = [""]
  for (let depth = 0; depth < deepest && level.length > 0 && found.length < most; depth++) {
    const next: Array<string> = []
    for (const folder of level) {
      const names = yield* Effect.orElseSucceed(fs.readDirectory(path.join(root, folder)), () => [])
      for (const name of names.toSorted()) {
        if (skipped.has(name) || found.length >= most) continue
        const at = folder === "" ? name : `${folder}/${name}`
        const isFolder = yield* Effect.match(fs.stat(path.join(root, at)), { onFailure: () => false, onSuccess: ({ type }) => type === "Directory" })
        found.push(isFolder ? `${at}/` : at)
        if (isFolder) next.push(at)
      }
    }
    level = next
  }
  return found
})

/** The commands there are. */
const commandItems = (state: State): ReadonlyArray<AutocompleteItem> =>
  [
    ...[...builtinCommands, ...screenCommands].map(({ description, name }) => ({ value: name, label: `/${name}`, description })),
    ...state.working.commands.map(({ description, name }) => ({ value: name, label: `/${cleanLine(name, 60)}`, description: cleanLine(description, 200) })),
    ...offeredCommands(state).map(({ description, extension, name }) => ({ value: name, label: `/${cleanLine(name, 60)}`, description: cleanLine(`${description} (${extension})`, 200) }))
  ].toSorted((a, b) => a.value < b.value ? -1 : 1)

/** What may stand behind commands of ours. */
const fixedArguments: Readonly<Record<string, ReadonlyArray<string>>> = {
  theme: themeChoices,
  settings: screenSettings.map(({ key }) => key),
  doctor: ["test"],
  trust: ["on", "off"],
  yolo: ["on", "off"],
  permissions: ["clear"],
  rewind: ["undo"]
}

const Offered = Schema.Array(Schema.Struct({
  value: Schema.String,
  label: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.NullOr(Schema.String))
}))
const isOffered = Schema.is(Offered)

/** Where completions come from. */
export interface CompletionSources {
  readonly state: () => State
  readonly files: () => Promise<ReadonlyArray<string>>
  /** Calls a function of a module; undefined when it fails. */
  readonly invoke: (extension: string, handle: number, args: ReadonlyArray<unknown>) => Promise<unknown>
}

/** A mention that is being written; one in quotes may have blanks. */
const mentionShape = /(?:^|\s)@("[^"]*|[^\s"]*)$/

/** What stands behind a command. */
const argumentShape = /^\/(\S+)[ ]+([^\n]*)$/

const argumentItems = ({ invoke, state }: CompletionSources, command: string, typed: string): Promise<ReadonlyArray<AutocompleteItem>> => {
  const fixed = fixedArguments[command]
  if (fixed !== undefined) return Promise.resolve(fixed.filter((one) => one.startsWith(typed.toLowerCase())).map((value) => ({ value, label: value })))
  const offered = offeredCommands(state()).find(({ name }) => name === command)
  const owner = state().figures.find(({ key, state: life }) => life === "Running" && key === offered?.extension)
  const handle = owner?.registration?.extras?.completions[offered?.registered ?? command]
  if (owner === undefined || handle === undefined) return Promise.resolve([])
  return invoke(owner.key, handle, [typed]).then((given) =>
    !isOffered(given) ? [] : given.slice(0, shown).map(({ description, label, value }) => ({ value, label: cleanLine(label ?? value, 100), description: cleanLine(`${description ?? ""} (${owner.key})`, 200) })))
}

/** What is put into the composer is written as it stands: what would not stay in its place is not offered. */
const harmless = (items: ReadonlyArray<AutocompleteItem>): Array<AutocompleteItem> => items.filter(({ value }) => value !== "" && clean(value) === value && !value.includes("\n"))

/** Completes from what the screen knows, from files and from what modules offer. */
export const makeCompletion = (sources: CompletionSources): AutocompleteProvider => ({
  triggerCharacters: ["@"],
  getSuggestions: (lines, cursorLine, cursorCol) => {
    const before = (lines[cursorLine] ?? "").slice(0, cursorCol)
    const command = cursorLine === 0 ? /^\/(\S*)$/.exec(before) : null
    if (command !== null) {
      const items = fuzzyFilter(harmless(commandItems(sources.state())), command[1] ?? "", ({ value }) => value)
      return Promise.resolve(items.length === 0 ? null : { items, prefix: before })
    }
    const [, name, typed = ""] = cursorLine === 0 ? argumentShape.exec(before) ?? [] : []
    if (name !== undefined && !mentionShape.test(typed)) {
      return argumentItems(sources, name.toLowerCase(), typed).then((items) => {
        // What stands there already is not offered: Enter shall send it.
        const offered = items.some(({ value }) => value === typed) ? [] : harmless(items)
        return offered.length === 0 ? null : { items: offered, prefix: typed }
      })
    }
    const mention = mentionShape.exec(before)
    if (mention === null) return Promise.resolve(null)
    const [, written = ""] = mention
    const query = written.replace(/^"/, "")
    return sources.files().then((all) => {
      const found = (query === "" ? all : fuzzyFilter([...all], query, (name) => name)).slice(0, shown)
      return found.length === 0 ? null : { items: harmless(found.map((name) => ({ value: name, label: cleanLine(name) }))), prefix: `@${written}` }
    })
  },
  applyCompletion: (lines, cursorLine, cursorCol, item, prefix) => {
    const line = lines[cursorLine] ?? ""
    // Keys were faster than the list: what is typed stands, and nothing is put in its place.
    if (!line.slice(0, cursorCol).endsWith(prefix) || (prefix.startsWith("/") && cursorCol !== prefix.length)) return { lines, cursorLine, cursorCol }
    const mark = prefix.startsWith("/") ? "/" : prefix.startsWith("@") ? "@" : ""
    const value = mark === "@" && /[^\p{L}\p{N}_./\-+]/u.test(item.value) ? `"${item.value}"` : item.value
    const words = `${mark}${value}${value.endsWith("/") ? "" : " "}`
    const head = line.slice(0, cursorCol - prefix.length) + words
    return { lines: lines.map((one, index) => index === cursorLine ? head + line.slice(cursorCol) : one), cursorLine, cursorCol: head.length }
  }
})
