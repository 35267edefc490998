/**
 * How a file's bytes are text: UTF-8, UTF-16 when it begins with that mark, else Latin-1, in which every byte is a
 * character. `read` shows a file and `edit` changes it by the same rule, and going there and back changes no byte.
 */
import { Result } from "effect"

/** The encodings that are known. */
export type EncodingName = "UTF-8" | "UTF-16LE" | "UTF-16BE" | "Latin-1"

/** What the first bytes of a file say; `mark` is the length of its byte order mark. */
export interface Signature {
  readonly encoding: Exclude<EncodingName, "Latin-1">
  readonly mark: number
}

/** So many bytes are looked at to tell a text from a binary file. */
const PROBE_BYTES = 8192

const beginsWith = (bytes: Uint8Array, ...mark: ReadonlyArray<number>): boolean => mark.every((byte, index) => bytes[index] === byte)

/** The signature of a file by its first chunk; undefined for a binary file, which has a zero byte near its beginning. */
export const signatureOf = (head: Uint8Array): Signature | undefined => {
  if (beginsWith(head, 0xef, 0xbb, 0xbf)) return { encoding: "UTF-8", mark: 3 }
  // With two zero bytes more it would be UTF-32, which nobody writes.
  if (beginsWith(head, 0xff, 0xfe) && !beginsWith(head, 0xff, 0xfe, 0, 0)) return { encoding: "UTF-16LE", mark: 2 }
  if (beginsWith(head, 0xfe, 0xff)) return { encoding: "UTF-16BE", mark: 2 }
  return head.subarray(0, PROBE_BYTES).includes(0) ? undefined : { encoding: "UTF-8", mark: 0 }
}

/** Whether bytes that are no UTF-8 may be a text all the same: it has no control characters but blanks, backspace and escape. */
export const mayBeLatin = (head: Uint8Array): boolean =>
  head.subarray(0, PROBE_BYTES).every((byte) => byte >= 32 || (byte >= 7 && byte <= 13) || byte === 27)

/** Tells whether bytes that come in chunks are UTF-8. */
export interface Utf8Check {
  /** Takes the next bytes, in order. */
  readonly push: (bytes: Uint8Array) => void
  /** Whether all bytes so far are UTF-8; `atEnd` tells that no character may be open any more. */
  readonly holds: (atEnd: boolean) => boolean
}

/** A check that has seen nothing yet. */
export const makeUtf8Check = (): Utf8Check => {
  const decoder = new TextDecoder("utf-8", { fatal: true })
  let valid = true
  const attempt = (decode: () => void): void => {
    if (valid) valid = Result.isSuccess(Result.try(decode))
  }
  return {
    push: (bytes) => attempt(() => { decoder.decode(bytes, { stream: true }) }),
    holds: (atEnd) => {
      if (atEnd) attempt(() => { decoder.decode() })
      return valid
    }
  }
}

/** Turns chunks of a file, without its mark, into UTF-8; what is half a character in UTF-16 becomes U+FFFD. */
export const makeTranscoder = (encoding: EncodingName): (chunk: Uint8Array) => Uint8Array => {
  if (encoding === "UTF-8") return (chunk) => chunk
  if (encoding === "Latin-1") return (chunk) => Buffer.from(bufferOf(chunk).toString("latin1"), "utf8")
  const decoder = new TextDecoder(encoding, { ignoreBOM: true })
  return (chunk) => Buffer.from(decoder.decode(chunk, { stream: true }), "utf8")
}

/** A file's text, and what it takes to write it back. */
export interface DecodedFile {
  readonly text: string
  readonly encoding: EncodingName
  readonly mark: Uint8Array
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Decodes whole contents without loss; undefined for a binary file and for half a character of UTF-16 at the end. */
export const decodeFile = (bytes: Uint8Array): DecodedFile | undefined => {
  const signature = signatureOf(bytes)
  if (signature === undefined) return undefined
  const { encoding, mark } = signature
  const body = bytes.subarray(mark)
  const decoded = (text: string): DecodedFile => ({ text, encoding, mark: bytes.subarray(0, mark) })
  if (encoding !== "UTF-8") {
    // A decoder would replace halves of surrogate pairs, a buffer keeps them.
    if (body.length % 2 !== 0) return undefined
    return decoded((encoding === "UTF-16LE" ? bufferOf(body) : Buffer.from(body).swap16()).toString("utf16le"))
  }
  const utf8 = Result.try(() => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body))
  if (Result.isSuccess(utf8)) return decoded(utf8.success)
  if (!mayBeLatin(bytes)) return undefined
  return { text: bufferOf(bytes).toString("latin1"), encoding: "Latin-1", mark: bytes.subarray(0, 0) }
}

/** Encodes a text as the file was, which `decodeFile` reads back; a text from elsewhere must be within `lacks`. */
export const encodeFile = (text: string, { encoding, mark }: DecodedFile): Uint8Array => {
  if (encoding === "UTF-8") return Buffer.concat([mark, Buffer.from(text, "utf8")])
  if (encoding === "Latin-1") return Buffer.from(text, "latin1")
  const body = Buffer.from(text, "utf16le")
  return Buffer.concat([mark, encoding === "UTF-16LE" ? body : body.swap16()])
}

/** A character of a text that an encoding cannot hold, undefined when it holds all. Half a surrogate pair is none anywhere. */
export const lacks = (text: string, encoding: EncodingName): string | undefined => {
  const match = (encoding === "Latin-1" ? /[^\u0000-\u00ff]/u : /\p{Surrogate}/u).exec(text)
  return match?.[0]
}
