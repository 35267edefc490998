/** Images by their first bytes; a file's name says nothing. */

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
