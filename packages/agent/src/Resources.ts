/**
 * What the home folder and a trusted project bring along beside extensions: instructions, skills, prompt templates and
 * `tool.json` tools. They are looked for when a session is entered and when the extensions are started anew.
 */
import { Effect, FileSystem, Option, Path, Result } from "effect"
import { localTools, Operations, readSkillTool, type Tool } from "@nimlet/tools"
import { type ContextFile, contextText, loadContext, makeScopedContext } from "./Resources/ContextFiles.ts"
import { loadExternalTools, toolRoots } from "./Resources/ExternalTools.ts"
import { loadTemplates, promptRoots, type PromptTemplate } from "./Resources/PromptTemplates.ts"
import { about, rootsIn, sheetIn } from "./Resources/ResourceFile.ts"
import { loadSkills, type Skill, skillRoots, skillsText } from "./Resources/Skills.ts"
import { reservedToolNames } from "./ToolSet.ts"

/** What was found. */
export interface Resources {
  /** The text of a `SYSTEM.md`, which takes the place of the base system text. */
  readonly system: Option.Option<string>
  /** System text that stands after the base, in order. */
  readonly appended: ReadonlyArray<string>
  readonly skills: ReadonlyArray<Skill>
  readonly templates: ReadonlyArray<PromptTemplate>
  /** `read_skill`, when there are skills. */
  readonly builtins: ReadonlyArray<Tool>
  /** Tools of `tool.json` files. */
  readonly tools: ReadonlyArray<Tool>
  /** The instructions that hold for a path of the model's below the workspace, each once. */
  readonly scoped: (path: string) => Effect.Effect<ReadonlyArray<ContextFile>>
  /** A sentence for each thing that was skipped. */
  readonly warnings: ReadonlyArray<string>
}

/** Places beside the usual ones: skill folders or files, templates or folders of them, themes. */
export interface ResourcePaths {
  readonly skill_paths: ReadonlyArray<string>
  readonly prompt_paths: ReadonlyArray<string>
  readonly theme_paths: ReadonlyArray<string>
}

/** Where resources are looked for. */
export interface ResourceOptions {
  /** Real paths of the person's home and the workspace. */
  readonly home: string
  readonly workspace: string
  /** Whether the project's own are, too. */
  readonly trusted: () => boolean
  /** The environment of `tool.json` tools. */
  readonly env: { readonly [name: string]: string | undefined }
}

/** Nothing was found. */
export const noResources: Resources = {
  system: Option.none(),
  appended: [],
  skills: [],
  templates: [],
  builtins: [],
  tools: [],
  scoped: () => Effect.succeed([]),
  warnings: []
}

const mostBytes = 64 * 1024
const reserved = new Set(reservedToolNames)

/** Where they are looked for. A home folder that is the workspace is no project: everything in it is the person's own. */
const placesOf = ({ home, trusted, workspace }: ResourceOptions) => ({ home, workspace, trusted: trusted() && home !== workspace })

const noPaths: ResourcePaths = { skill_paths: [], prompt_paths: [], theme_paths: [] }

/** What lies in roots of its own, kind by kind. */
const inRoots = Effect.fnUntraced(function*(options: ResourceOptions, more: ResourcePaths) {
  const path = yield* Path.Path
  const where = placesOf(options)
  const found = yield* Effect.all({
    skills: loadSkills(rootsIn(path, where, skillRoots.own, skillRoots.project), more.skill_paths),
    templates: loadTemplates(rootsIn(path, where, promptRoots.own, promptRoots.project), more.prompt_paths),
    external: loadExternalTools(rootsIn(path, where, toolRoots.own, toolRoots.project), { env: options.env, reserved })
  }, { concurrency: "unbounded" })
  return { skills: found.skills.skills, templates: found.templates.templates, tools: found.external.tools, warnings: [...found.skills.warnings, ...found.templates.warnings, ...found.external.warnings] }
})

/** A sentence for each skill, template and `tool.json` that is wrong or left out. */
export const resourceFaults = (options: ResourceOptions) => Effect.map(inRoots(options, noPaths), ({ warnings }) => warnings)

/** Looks for all of them. What cannot be read is left out. */
export const loadResources = Effect.fnUntraced(function*(
  options: ResourceOptions,
  more: ResourcePaths = noPaths
): Effect.fn.Return<Resources, never, FileSystem.FileSystem | Path.Path | Operations> {
  const path = yield* Path.Path
  const context = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  const { home, workspace } = options
  const where = placesOf(options)
  const faults: Array<string> = []
  const text = Effect.fnUntraced(function*(folder: string, name: string) {
    const file = path.join(folder, ".nimlet", name)
    const sheet = yield* sheetIn(file, mostBytes)
    if (Option.isSome(sheet) && Result.isFailure(sheet.value)) faults.push(...about(file, [sheet.value.failure]))
    return Option.flatMap(sheet, Result.getSuccess)
  })
  const own = (name: string) => text(home, name)
  const theirs = (name: string) => where.trusted ? text(workspace, name) : Effect.succeedNone
  const found = yield* Effect.all({
    ownSystem: own("SYSTEM.md"),
    system: theirs("SYSTEM.md"),
    ownAppend: own("APPEND_SYSTEM.md"),
    append: theirs("APPEND_SYSTEM.md"),
    files: loadContext({ home, workspace }),
    rooted: inRoots(options, more)
  }, { concurrency: "unbounded" })
  const { append, files, ownAppend, ownSystem, rooted: { skills, templates, tools, warnings }, system } = found
  const { files: workspaceFiles } = yield* Operations
  const scopedContext = makeScopedContext(workspace)
  const visited = new Set<string>()
  /** Folders as the model writes them are remembered, so that most reads cost nothing here. */
  const scoped = Effect.fnUntraced(function*(given: string) {
    const folder = path.dirname(given)
    if (folder === "." || visited.has(folder)) return []
    visited.add(folder)
    const { real } = yield* workspaceFiles.locate(given)
    return yield* Effect.provideContext(scopedContext(real), context)
  }, Effect.orElseSucceed(() => []))
  return {
    system: Option.orElse(system, () => ownSystem),
    appended: [...Option.toArray(ownAppend), ...Option.toArray(append), files.map(contextText).join("\n"), skillsText(skills)].filter((text) => text.trim() !== ""),
    skills,
    templates,
    builtins: skills.length === 0 ? [] : yield* localTools([readSkillTool(Effect.succeed(skills))]),
    tools: yield* localTools(tools),
    scoped,
    warnings: [...faults, ...warnings, ...more.theme_paths.map((theme) => `the theme ${theme} of an extension is not used: there are dark and light`)]
  }
})
