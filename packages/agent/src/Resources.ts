/**
 * What the home folder and a trusted project bring along beside extensions: instructions, skills, prompt templates and
 * `tool.json` tools. They are looked for when a session is entered and when the extensions are started anew.
 */
import { Effect, FileSystem, Option, Path } from "effect"
import { localTools, Operations, readSkillTool, type Tool } from "@nimlet/tools"
import { type ContextFile, contextText, loadContext, makeScopedContext } from "./Resources/ContextFiles.ts"
import { loadExternalTools, toolRoots } from "./Resources/ExternalTools.ts"
import { loadTemplates, promptRoots, type PromptTemplate } from "./Resources/PromptTemplates.ts"
import { rootsIn, textIn } from "./Resources/ResourceFile.ts"
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

/** A sentence for each `tool.json` that is left out. */
export const externalToolFaults = Effect.fnUntraced(function*(options: ResourceOptions) {
  const path = yield* Path.Path
  return (yield* loadExternalTools(rootsIn(path, placesOf(options), toolRoots.own, toolRoots.project), { env: options.env, reserved })).warnings
})

/** Looks for all of them. What cannot be read is left out. */
export const loadResources = Effect.fnUntraced(function*(
  options: ResourceOptions,
  more: ResourcePaths = { skill_paths: [], prompt_paths: [], theme_paths: [] }
): Effect.fn.Return<Resources, never, FileSystem.FileSystem | Path.Path | Operations> {
  const path = yield* Path.Path
  const context = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  const { env, home, workspace } = options
  const where = placesOf(options)
  const own = (name: string) => textIn(path.join(home, ".nimlet", name), mostBytes)
  const theirs = (name: string) => where.trusted ? textIn(path.join(workspace, ".nimlet", name), mostBytes) : Effect.succeedNone
  const found = yield* Effect.all({
    ownSystem: own("SYSTEM.md"),
    system: theirs("SYSTEM.md"),
    ownAppend: own("APPEND_SYSTEM.md"),
    append: theirs("APPEND_SYSTEM.md"),
    files: loadContext({ home, workspace }),
    skills: loadSkills(rootsIn(path, where, skillRoots.own, skillRoots.project), more.skill_paths),
    templates: loadTemplates(rootsIn(path, where, promptRoots.own, promptRoots.project), more.prompt_paths),
    external: loadExternalTools(rootsIn(path, where, toolRoots.own, toolRoots.project), { env, reserved })
  }, { concurrency: "unbounded" })
  const { append, external, files, ownAppend, ownSystem, skills, system, templates } = found
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
    tools: yield* localTools(external.tools),
    scoped,
    warnings: [...external.warnings, ...more.theme_paths.map((theme) => `the theme ${theme} of an extension is not used: there are dark and light`)]
  }
})
