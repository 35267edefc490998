/** Skills: folders with a `SKILL.md`, of which the model is told name and purpose and reads the rest when it needs it (seed 000, "Discovery order"). */
import { Effect, Option, Path, Result } from "effect"
import { beginningOf } from "@nimlet/protocol"
import type { SkillFile } from "@nimlet/tools"
import { sheetOf } from "./FrontMatter.ts"
import { about, lastOfEach, pathsIn, type ResourceRoot, sheetIn } from "./ResourceFile.ts"

/** A skill: its file and what it is for. */
export interface Skill extends SkillFile {
  readonly description: string
}

/** Where skills lie, in the home folder and in a workspace. */
export const skillRoots = { own: [".agents/skills", ".nimlet/skills"], project: [".agent/skills", ".agents/skills", ".nimlet/skills"] } as const

const mostBytes = 1024 * 1024
const headLines = 64
const mostDescription = 1024

/** Name and purpose of a skill, from the head of its file, and what is wrong with that. Pure. */
export const skillOf = (file: string, folder: string, text: string): { readonly skill: Skill; readonly faults: ReadonlyArray<string> } => {
  const { body, faults, fields } = sheetOf(text.split("\n", headLines).join("\n"))
  const first = body.split("\n").find((line) => line.trim() !== "" && !/^(#|---)/.test(line)) ?? ""
  const said = fields.get("description") ?? ""
  const description = (said === "" ? first : said).replaceAll(/\s+/g, " ").trim()
  const unsaid = said === "" && (fields.size > 0 || description === "") ? ["description is missing; say in the front matter what the skill is for, and when"] : []
  return { skill: { name: fields.get("name") || folder, file, description: beginningOf(description, mostDescription) }, faults: faults.length > 0 ? faults : unsaid }
}

/**
 * The skills in these roots, and those that extensions named: a file, a skill's folder, or one with such folders in it. Of two
 * with one name the later. A sentence for each that is wrong or left out.
 */
export const loadSkills = Effect.fnUntraced(function*(roots: ReadonlyArray<ResourceRoot>, named: ReadonlyArray<string> = []) {
  const path = yield* Path.Path
  const inside = Effect.forEach([...roots.map((root) => root.path), ...named], pathsIn, { concurrency: "unbounded" })
  const fileIn = (folder: string) => path.join(folder, "SKILL.md")
  const candidates = [...(yield* inside).flat().map(fileIn), ...named.map((one) => one.endsWith(".md") ? one : fileIn(one))]
  const found = yield* Effect.forEach([...new Set(candidates)], (file) =>
    Effect.map(sheetIn(file, mostBytes), Option.map(Result.match({
      onFailure: (fault) => ({ skills: [], warnings: about(file, [fault]) }),
      onSuccess: (text) => {
        const { faults, skill } = skillOf(file, path.basename(path.dirname(file)), text)
        return { skills: [skill], warnings: about(file, faults) }
      }
    }))), { concurrency: 16 })
  const there = found.flatMap(Option.toArray)
  return { skills: lastOfEach(there.flatMap(({ skills }): ReadonlyArray<Skill> => skills)), warnings: there.flatMap(({ warnings }) => warnings) }
})

/** What the model is told of the skills; empty when there are none. Pure. */
export const skillsText = (skills: ReadonlyArray<Skill>): string =>
  skills.length === 0
    ? ""
    : `Skills (read one with read_skill before doing what it is for):\n${skills.map(({ description, name }) => `- ${name}: ${description}`).join("\n")}`
