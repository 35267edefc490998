/** `read_skill`: the text of a skill, wherever its file lies; skills are often outside the workspace. */
import { Effect, FileSystem } from "effect"
import { textArgument } from "./Arguments.ts"
import { boundHead, modelLimits } from "./Output.ts"
import { decodeFile } from "./TextEncoding.ts"
import { errorResult, textResult } from "./Tool.ts"
import type { Tool, ToolResult } from "./Tool.ts"

const MAX_FILE_BYTES = 1024 * 1024
/** So many names are told when a wrong one was given. */
const MAX_NAMES = 50
/** Room for the head lines and the note at the end. */
const ROOM_BYTES = 1024
const ROOM_LINES = 8

/** A skill that may be read, and its file's absolute path. */
export interface SkillFile {
  readonly name: string
  readonly file: string
}

const find = (skills: ReadonlyArray<SkillFile>, name: string): SkillFile | undefined =>
  skills.find((skill) => skill.name === name) ?? skills.find((skill) => skill.name.toLowerCase() === name.toLowerCase())

const unknown = (skills: ReadonlyArray<SkillFile>, name: string): ToolResult => {
  const names = skills.slice(0, MAX_NAMES).map((skill) => skill.name).join(", ")
  return errorResult(`no skill is named ${JSON.stringify(name)}; ${names === "" ? "there is none" : `there are: ${names}${skills.length > MAX_NAMES ? ", ..." : ""}`}`)
}

const read = Effect.fnUntraced(function*({ file, name }: SkillFile) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* fs.stat(file)
  if (info.type !== "File") return errorResult(`skill ${name}: ${file} is not a regular file`)
  if (Number(info.size) > MAX_FILE_BYTES) return errorResult(`skill ${name}: ${file} has more than 1 MB`)
  const decoded = decodeFile(yield* fs.readFile(file))
  if (decoded === undefined) return errorResult(`skill ${name}: ${file} is a binary file`)
  const { dropped, text } = boundHead(decoded.text, { maxBytes: modelLimits.maxBytes - ROOM_BYTES, maxLines: modelLimits.maxLines - ROOM_LINES })
  const note = dropped === 0 ? "" : `\n[cut: ${dropped} more bytes are in ${file}; look into it with bash]`
  return textResult(`Skill: ${name}\nfile: ${file}\n\n${text}${note}`)
})

/** The `read_skill` tool over the skills there are at the time of the call; the list says which files are trusted. */
export const readSkillTool = (skills: Effect.Effect<ReadonlyArray<SkillFile>>): Tool<FileSystem.FileSystem> => ({
  name: "read_skill",
  description: "Read a skill's instructions (up to 50 KB), before doing what it is for.",
  inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"], additionalProperties: false },
  capabilities: ["read"],
  run: Effect.fnUntraced(function*(args) {
    const name = textArgument(args, "name") ?? ""
    const all = yield* skills
    const skill = find(all, name)
    if (skill === undefined) return unknown(all, name)
    return yield* read(skill).pipe(
      Effect.catch((error) => Effect.succeed(errorResult(`skill ${skill.name}: ${skill.file} cannot be read: ${error.reason._tag}`)))
    )
  })
})
