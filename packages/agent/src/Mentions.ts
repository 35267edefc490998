/** `@path` in what a person typed: the file, folder or image it names goes along with the words. */
import { Effect, Result, Schema } from "effect"
import { brokenImage, type ContentPart, imageTypeOf } from "@nimlet/protocol"
import { type Located, Operations } from "@nimlet/tools"
import { untypedText } from "./RunEvents.ts"

const mostBytes = 100_000
const mostEntries = 200
/** As large an image as models take. */
const mostImage = 5 * 1024 * 1024
/** So many are followed; the rest stays words. */
const mostMentions = 32

/** Behind an `@` at the start of a word: a name in quotes, or one of what stands in most names. A call (`@app.route(…)`) is none. */
const shape = /(?<=^|\s)@(?:"([^"\n]+)"|(~?[\p{L}\p{N}_./\-+]+)(?![\p{L}\p{N}_./\-+(]))/gu

/** How files end that people write to a model of; `@app.route` and `@mail.org` do not. */
const fileEnding =
  /\.(astro|bash|bat|c|cc|cfg|clj|conf|cpp|cs|css|csv|cts|cxx|dart|diff|el|env|erl|ex|exs|fish|gif|go|gradle|graphql|h|hpp|hs|htm|html|ini|ipynb|java|jpe?g|js|json|jsonc|jsonl|jsx|kt|less|lock|log|lua|m|markdown|md|mdx|mjs|ml|mts|nim|nix|patch|pdf|php|pl|png|proto|ps1|py|r|rb|rs|rst|sass|scala|scss|sh|sql|svelte|svg|swift|tf|toml|ts|tsv|tsx|txt|vue|webp|xml|ya?ml|zig|zsh)$/i

/** A name behind an `@`; `quoted` leaves no doubt that a file is meant. */
export interface Mention {
  readonly path: string
  readonly quoted: boolean
}

/** What a text mentions, each once. Pure. */
export const mentionsIn = (text: string): ReadonlyArray<Mention> => {
  const found = new Map<string, Mention>()
  for (const [, quoted, bare] of text.matchAll(shape)) {
    const path = quoted ?? bare ?? ""
    if (found.get(path)?.quoted !== true) found.set(path, { path, quoted: quoted !== undefined })
  }
  return [...found.values()]
}

/** Whether a name that is of no file was surely meant for one: written as a path, or ending as files do. Pure. */
export const looksLikeFile = ({ path, quoted }: Mention): boolean => quoted || /^(\.{0,2}|~)\/|\/$/.test(path) || fileEnding.test(path.replace(/[.]+$/, ""))

/** What mentions bring along, and a sentence for each that brings nothing. */
export interface Mentioned {
  readonly content: ReadonlyArray<ContentPart>
  readonly warnings: ReadonlyArray<string>
}

/** What a mention names does not go along. */
class MentionSkipped extends Schema.TaggedError<MentionSkipped>()("MentionSkipped", { path: Schema.String, why: Schema.String }) {
  override get message(): string {
    return `@${/[^\p{L}\p{N}_./\-+~]/u.test(this.path) ? `"${this.path}"` : this.path} is left as words: ${this.why}`
  }
}

const skipped = (shown: string, why: string) => new MentionSkipped({ path: shown, why })

/** Finds what a text mentions: files, folders and images of the workspace. A word that is the name of none, and does not look like one, stays a word. */
export const makeMentions: Effect.Effect<(text: string) => Effect.Effect<Mentioned>, never, Operations> = Effect.map(Operations, ({ files }) => {
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
    const mimeType = imageTypeOf(bytes)
    if (mimeType !== undefined) {
      if (size > mostImage) return yield* skipped(file.shown, `an image of ${size} bytes is more than models take (${mostImage})`)
      const fault = brokenImage(bytes)
      if (fault !== undefined) return yield* skipped(file.shown, `it is no whole image: ${fault}`)
      return { type: "image", mimeType, data: bytes.toString("base64"), path: file.shown } satisfies ContentPart
    }
    if (bytes.subarray(0, 8192).includes(0)) return yield* skipped(file.shown, "it is neither text nor an image that models take")
    const text = new TextDecoder().decode(bytes.subarray(0, mostBytes)).replace(/\uFFFD+$/, "")
    const more = size > mostBytes ? `\n[${size - mostBytes} bytes left out; read the file for them]` : ""
    return untypedText(`<file path="${file.shown}">\n${text}${more}\n</file>`)
  })

  const folderBlock = Effect.fnUntraced(function*(folder: Located) {
    const entries = (yield* files.list(folder)).map(({ kind, name }) => kind === "directory" ? `${name}/` : name).toSorted()
    const more = entries.length > mostEntries ? `\n[${entries.length - mostEntries} more]` : ""
    return untypedText(`<folder path="${folder.shown}">\n${entries.slice(0, mostEntries).join("\n")}${more}\n</folder>`)
  })

  /** The file that a mention means; a dot behind it may end the sentence. */
  const find = Effect.fnUntraced(function*({ path, quoted }: Mention) {
    const first = yield* files.locate(path)
    const bare = path.replace(/[.]+$/, "")
    return first.exists || quoted || bare === path || bare === "" ? first : yield* files.locate(bare)
  })

  const partOf = Effect.fnUntraced(function*(mention: Mention) {
    const located = yield* Effect.result(find(mention))
    const isOutside = Result.isFailure(located) && located.failure._tag === "PathOutside"
    if (isOutside || (Result.isFailure(located) && looksLikeFile(mention))) return yield* located.failure
    if (Result.isFailure(located)) return undefined
    const file = located.success
    if (!file.exists) return looksLikeFile(mention) ? yield* skipped(mention.path, "there is no such file") : undefined
    const { kind } = yield* files.info(file)
    if (kind === "directory") return yield* folderBlock(file)
    return kind === "file" ? yield* fileBlock(file) : yield* skipped(file.shown, "it is no regular file")
  }, (effect, { path }) => Effect.mapError(effect, (error) => error._tag === "MentionSkipped" ? error : skipped(path, error._tag === "FileFailed" ? error.reason : "it is outside the workspace")))

  return Effect.fnUntraced(function*(text) {
    const all = mentionsIn(text)
    const results = yield* Effect.forEach(all.slice(0, mostMentions), (mention) => Effect.result(partOf(mention)), { concurrency: 8 })
    return {
      content: results.flatMap((result) => Result.isSuccess(result) && result.success !== undefined ? [result.success] : []),
      warnings: [
        ...results.flatMap((result) => Result.isFailure(result) ? [result.failure.message] : []),
        ...(all.length > mostMentions ? [`Only the first ${mostMentions} names behind an @ are looked for; the rest are left as words.`] : [])
      ]
    }
  })
})
