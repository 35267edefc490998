/** Which pictures models take, told by their first bytes. Pure. */

const marks: ReadonlyArray<readonly [mimeType: string, bytes: ReadonlyArray<number>, at: number]> = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47], 0],
  ["image/jpeg", [0xff, 0xd8, 0xff], 0],
  ["image/gif", [0x47, 0x49, 0x46, 0x38], 0],
  ["image/webp", [0x57, 0x45, 0x42, 0x50], 8]
]

/** The type; undefined for anything else. */
export const imageTypeOf = (bytes: Uint8Array): string | undefined =>
  marks.find(([, mark, at]) => mark.every((byte, index) => bytes[at + index] === byte))?.[0]
