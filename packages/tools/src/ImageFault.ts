/**
 * Whether a picture is whole as far as its structure tells. A provider refuses a request with a broken one, and each
 * later request of the session has it in it again. Pure.
 */
import { crc32 } from "node:zlib"
import { imageTypeOf } from "./ImageType.ts"

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
export const imageFault = (bytes: Uint8Array): string | undefined =>
  faults[imageTypeOf(bytes) ?? ""]?.(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
