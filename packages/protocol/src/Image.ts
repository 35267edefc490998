/**
 * Which images a model may be sent: by their first bytes, as a name says nothing, and whole as far as their structure tells. A
 * provider refuses a request with another one, and each later request of the session has it in it again. Pure, and without
 * Effect: a worker of an extension uses it, too, by `@nimlet/protocol/image`.
 */
import { crc32 } from "node:zlib"

const startsWith = (bytes: Uint8Array, magic: ReadonlyArray<number>, at = 0): boolean =>
  magic.every((byte, index) => bytes[at + index] === byte)

/** The MIME type of a PNG, JPEG, GIF or WEBP, by its first 12 bytes; undefined for all else. */
export const imageTypeOf = (bytes: Uint8Array): string | undefined => {
  if (startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return "image/png"
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return "image/jpeg"
  if (startsWith(bytes, [0x47, 0x49, 0x46, 0x38]) && (bytes[4] === 0x37 || bytes[4] === 0x39) && bytes[5] === 0x61) return "image/gif"
  if (startsWith(bytes, [0x52, 0x49, 0x46, 0x46]) && startsWith(bytes, [0x57, 0x45, 0x42, 0x50], 8)) return "image/webp"
  return undefined
}

const short = "it ends too early"
const sizeless = "it has no width and height"

const latin = (bytes: Buffer, from: number, length: number): string => bytes.toString("latin1", from, from + length)

/** Each chunk has its own checksum; between the first, with the size, and the last is at least one with the picture. */
const pngFault = (bytes: Buffer): string | undefined => {
  let drawn = false
  for (let at = 8; at + 12 <= bytes.length;) {
    const length = bytes.readUInt32BE(at)
    const end = at + 12 + length
    if (end > bytes.length) return at === 8 ? sizeless : short
    const type = latin(bytes, at + 4, 4)
    if (at === 8 && (type !== "IHDR" || length !== 13 || bytes.readUInt32BE(16) === 0 || bytes.readUInt32BE(20) === 0)) return sizeless
    if (crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) return `its part ${JSON.stringify(type)} is damaged`
    if (type === "IEND") return drawn ? undefined : "there is no picture in it"
    drawn ||= type === "IDAT"
    at = end
  }
  return bytes.length < 33 ? sizeless : short
}

const frames = /^[\xc0-\xc3\xc5-\xc7\xc9-\xcb\xcd-\xcf]$/

/** Segments with their lengths up to the scan, which ends at a mark of its own. */
const jpegFault = (bytes: Buffer): string | undefined => {
  let sized = false
  for (let at = 2; at + 4 <= bytes.length;) {
    if (bytes[at] !== 0xff) return "its segments are damaged"
    // Any number of these fill up to the mark.
    if (bytes[at + 1] === 0xff) {
      at++
      continue
    }
    const mark = latin(bytes, at + 1, 1)
    const end = at + 2 + bytes.readUInt16BE(at + 2)
    if (end > bytes.length) return short
    if (frames.test(mark)) {
      if (end < at + 10 || bytes.readUInt16BE(at + 7) === 0) return sizeless
      sized = true
    }
    if (mark === "\xda") return !sized ? sizeless : bytes.lastIndexOf("\xff\xd9", undefined, "latin1") < end ? short : undefined
    at = end
  }
  return sized ? short : sizeless
}

/** How many bytes a table of colours takes, by the byte that tells. */
const tableSize = (flags: number): number => (flags & 0x80) === 0 ? 0 : 3 << ((flags & 7) + 1)

/** Behind blocks of which each tells its length; undefined where they do not end. */
const behindBlocks = (bytes: Buffer, start: number): number | undefined => {
  for (let at = start; at < bytes.length;) {
    const length = bytes.readUInt8(at)
    at += 1 + length
    if (length === 0) return at
  }
  return undefined
}

/** One whole frame is enough: programs show as much as there is. */
const gifFault = (bytes: Buffer): string | undefined => {
  if (bytes.length < 13 || bytes.readUInt16LE(6) === 0 || bytes.readUInt16LE(8) === 0) return sizeless
  for (let at: number | undefined = 13 + tableSize(bytes.readUInt8(10)); at !== undefined && at + 1 < bytes.length;) {
    const kind = bytes[at]
    if (kind === 0x2c) {
      if (at + 11 > bytes.length) return short
      return behindBlocks(bytes, at + 11 + tableSize(bytes.readUInt8(at + 9))) === undefined ? short : undefined
    }
    if (kind !== 0x21) return "its blocks are damaged"
    at = behindBlocks(bytes, at + 2)
  }
  return short
}

const webpFault = (bytes: Buffer): string | undefined => {
  if (bytes.length < 30) return sizeless
  const end = bytes.readUInt32LE(4) + 8
  if (end > bytes.length) return short
  for (let at = 12; at + 8 <= end;) {
    const type = latin(bytes, at, 4)
    const next = at + 8 + bytes.readUInt32LE(at + 4)
    if (next > end) return short
    if (type === "VP8 ") return next < at + 18 || latin(bytes, at + 11, 3) !== "\x9d\x01\x2a" || (bytes.readUInt16LE(at + 14) & 0x3fff) === 0 || (bytes.readUInt16LE(at + 16) & 0x3fff) === 0 ? sizeless : undefined
    if (type === "VP8L") return next < at + 13 || bytes[at + 8] !== 0x2f ? sizeless : undefined
    if (type === "ANMF") return undefined
    at = next + next % 2
  }
  return "there is no picture in it"
}

const faults: { readonly [mimeType: string]: (bytes: Buffer) => string | undefined } = {
  "image/png": pngFault,
  "image/jpeg": jpegFault,
  "image/gif": gifFault,
  "image/webp": webpFault
}

/** What is wrong with a PNG, JPEG, GIF or WEBP, in words; undefined when it is whole, or none of these. */
export const brokenImage = (bytes: Uint8Array): string | undefined =>
  faults[imageTypeOf(bytes) ?? ""]?.(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))

const providersTake = /^image\/(?:png|jpeg|gif|webp)$/
const base64 = /^[A-Za-z0-9+/\s]+={0,2}\s*$/

/** Why no provider takes an image with these, by its type and how it begins; undefined where nothing speaks against it. */
export const imageFault = (mimeType: string, data: string): string | undefined => {
  if (!providersTake.test(mimeType)) {
    return `its type is ${mimeType === "" ? "missing" : JSON.stringify(mimeType.slice(0, 60))}, not image/png, image/jpeg, image/gif or image/webp`
  }
  if (!base64.test(data)) return `its data is ${data === "" ? "empty" : "not base64"}`
  const type = imageTypeOf(Buffer.from(data.slice(0, 80), "base64"))
  return type === undefined || type === mimeType ? undefined : `its type is ${mimeType}, but it is ${type}`
}

/** The same for one that somebody gives to be sent, and what is wrong with the whole of it. */
export const givenImageFault = (mimeType: string, data: string): string | undefined => {
  const fault = imageFault(mimeType, data)
  if (fault !== undefined) return fault
  const bytes = Buffer.from(data, "base64")
  return imageTypeOf(bytes) === undefined ? `it does not begin like ${mimeType}` : brokenImage(bytes)
}

/** What stands for an image that is not sent. */
export const unsentImage = (fault: string): string => `[An image was left out: ${fault}.]`
