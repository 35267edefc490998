/** Skills: folders with a `SKILL.md`, of which the model is told name and purpose and reads the rest when it needs it (seed 000, "Discovery order"). */
import { Effect, Option, Path } from "effect"
import { beginningOf } from "@nimlet/protocol"
import type { SkillFile } from "@nimlet/tools"
import { sheetOf } from "./FrontMatter.ts"
import { lastOfEach, pathsIn, type ResourceRoot, textIn } from "./ResourceFile.ts"

/** A skill: its file and what it is for. */
export interface Skill extends SkillFile {
  readonly description: string
}

/** Where skills lie, in the home folder and in a workspace. */
export const skillRoots = { own: [".agents/skills", ".nimlet/skills"], project: [".agent/skills", ".agents/skills", ".nimlet/skills"] } as const

const mostBytes = 1024 * 1024
const headLines = 64
const mostDescription = 1024

/** Name and purpose of a skill, from the head of its file. Pure. */
export const skillOf = (file: string, folder: string, text: string): Skill => {
  const { body, fields } = sheetOf(text.split("\n", headLines).join("\n"))
  const first = body.split("\n").find((line) => line.trim() !== "" && !line.startsWith("#")) ?? ""
  const description = (fields.get("description") ?? first).replaceAll(/\s+/g, " ").trim()
  return { name: fields.get("name") || folder, file, description: beginningOf(description, mostDescription) }
}

/**
 * The skills in these roots, and those that extensions named: a file, a skill's folder, or one with such folders in it. Of two
 * with one name the later.
 */
export const loadSkills = Effect.fnUntraced(function*(roots: ReadonlyArray<ResourceRoot>, named: ReadonlyArray<string> = []) {
  const path = yield* Path.Path
  const inside = Effect.forEach([...roots.map((root) => root.path), ...named], pathsIn, { concurrency: "unbounded" })
  const sheetIn = (folder: string) => path.join(folder, "SKILL.md")
  const candidates = [...(yield* inside).flat().map(sheetIn), ...named.map((one) => one.endsWith(".md") ? one : sheetIn(one))]
  const skills = yield* Effect.forEach([...new Set(candidates)], (file) =>
    Effect.map(textIn(file, mostBytes), Option.map((text) => skillOf(file, path.basename(path.dirname(file)), text))), { concurrency: 16 })
  return lastOfEach(skills.flatMap((skill) => Option.toArray(skill)))
})

/** What the model is told of the skills; empty when there are none. Pure. */
export const skillsText = (skills: ReadonlyArray<Skill>): string =>
  skills.length === 0
    ? ""
    : `Skills (read one with read_skill before doing what it is for):\n${skills.map(({ description, name }) => `- ${name}: ${description}`).join("\n")}`
