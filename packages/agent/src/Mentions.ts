/** `@path` in what a person typed: the file, folder or image it names goes along with the words. */
import { Effect, Option } from "effect"
import type { ContentPart } from "@nimlet/protocol"
import { type Located, Operations } from "@nimlet/tools"
import { untypedText } from "./RunEvents.ts"

const mostBytes = 100_000
const mostEntries = 200
/** As large an image as models take. */
const mostImage = 5 * 1024 * 1024
/** So many are followed; the rest stays words. */
const mostMentions = 32

const shape = /(?<=^|\s)@([\p{L}\p{N}_./\-+]+)/gu

/** The paths a text mentions, each once. Pure. */
export const mentionsIn = (text: string): ReadonlyArray<string> => [...new Set([...text.matchAll(shape)].map(([, path = ""]) => path))].slice(0, mostMentions)

const images: ReadonlyArray<readonly [mimeType: string, magic: string]> = [
  ["image/png", "89504e470d0a1a0a"],
  ["image/jpeg", "ffd8ff"],
  ["image/gif", "47494638"],
  ["image/webp", "52494646........57454250"]
]

/** What kind of image it is, by its first bytes, of those that models take; undefined when it is none. Pure. */
export const imageType = (bytes: Uint8Array): string | undefined => {
  const head = Buffer.from(bytes.subarray(0, 12)).toString("hex")
  return images.find(([, magic]) => new RegExp(`^${magic}`).test(head))?.[0]
}

/** Finds what a text mentions. What is no file, folder or image of the workspace stays words. */
export const makeMentions: Effect.Effect<(text: string) => Effect.Effect<ReadonlyArray<ContentPart>>, never, Operations> = Effect.map(Operations, ({ files }) => {
  const bytesOf = Effect.fnUntraced(function*(file: Located) {
    const chunks: Array<Uint8Array> = []
    let size = 0
    const info = yield* files.scan(file, (chunk) => {
      chunks.push(chunk.slice())
      size += chunk.length
      return size <= mostImage
    })
    return { bytes: Buffer.concat(chunks), size: info.size }
  })

  const fileBlock = Effect.fnUntraced(function*(file: Located) {
    const { bytes, size } = yield* bytesOf(file)
    const mimeType = imageType(bytes)
    if (mimeType !== undefined) return size > mostImage ? Option.none<ContentPart>() : Option.some<ContentPart>({ type: "image", mimeType, data: bytes.toString("base64"), path: file.shown })
    if (bytes.subarray(0, 8192).includes(0)) return Option.none<ContentPart>()
    const text = new TextDecoder().decode(bytes.subarray(0, mostBytes)).replace(/\uFFFD+$/, "")
    const more = size > mostBytes ? `\n[${size - mostBytes} bytes left out; read the file for them]` : ""
    return Option.some<ContentPart>(untypedText(`<file path="${file.shown}">\n${text}${more}\n</file>`))
  })

  const folderBlock = Effect.fnUntraced(function*(folder: Located) {
    const entries = (yield* files.list(folder)).map(({ kind, name }) => kind === "directory" ? `${name}/` : name).toSorted()
    const more = entries.length > mostEntries ? `\n[${entries.length - mostEntries} more]` : ""
    return Option.some<ContentPart>(untypedText(`<folder path="${folder.shown}">\n${entries.slice(0, mostEntries).join("\n")}${more}\n</folder>`))
  })

  const partOf = Effect.fnUntraced(function*(path: string) {
    for (const name of new Set([path, path.replace(/[.]+$/, "")])) {
      const found = name === "" ? Option.none() : yield* Effect.option(files.locate(name))
      if (Option.isNone(found) || !found.value.exists) continue
      const { kind } = yield* files.info(found.value)
      return yield* kind === "directory" ? folderBlock(found.value) : kind === "file" ? fileBlock(found.value) : Effect.succeedNone
    }
    return Option.none<ContentPart>()
  }, Effect.orElseSucceed(() => Option.none<ContentPart>()))

  return (text) => Effect.map(Effect.forEach(mentionsIn(text), partOf, { concurrency: 8 }), (parts) => parts.flatMap((part) => Option.toArray(part)))
})
