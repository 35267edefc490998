/** The version token of a file: FNV-1a, 64 bits, over its bytes. It tells changes apart, it is no proof against malice. */

/** A running hash; feed it the bytes in order, then take the token. */
export interface VersionHash {
  readonly update: (bytes: Uint8Array) => void
  /** 16 hex digits. */
  readonly token: () => string
}

const hex = (half: number): string => half.toString(16).padStart(8, "0")

/** A hash over no bytes yet. The 64 bits live in two 32-bit halves, since BigInt is some fifty times slower. */
export const makeVersionHash = (): VersionHash => {
  let high = 0xcbf29ce4
  let low = 0x84222325
  return {
    update: (bytes) => {
      let h = high
      let l = low
      for (let i = 0; i < bytes.length; i++) {
        // The prime is 2^40 + 0x1b3: low times 0x1b3 stays exact in a double, low shifted by 40 lands in the high half.
        const mixed = (l ^ (bytes[i] ?? 0)) >>> 0
        const product = mixed * 0x1b3
        h = (Math.imul(h, 0x1b3) + Math.floor(product / 0x100000000) + (mixed << 8)) >>> 0
        l = product >>> 0
      }
      high = h
      low = l
    },
    token: () => hex(high) + hex(low)
  }
}

/** The token of whole contents: 16 hex digits. */
export const versionOf = (bytes: Uint8Array): string => {
  const hash = makeVersionHash()
  hash.update(bytes)
  return hash.token()
}
