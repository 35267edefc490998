import { assert, describe, it } from "@effect/vitest"
import { imageFault, imageTypeOf } from "../src/index.ts"
import { pictures } from "./Pictures.ts"

const all = Object.entries(pictures)

describe("a picture", () => {
  it.each(all)("that is whole has no fault: %s", (_, bytes) => {
    assert.isDefined(imageTypeOf(bytes))
    assert.isUndefined(imageFault(bytes))
    assert.isUndefined(imageFault(Buffer.concat([bytes, Buffer.from("something behind it")])))
  })

  it.each(all)("that ends too early has one, wherever it ends: %s", (name, bytes) => {
    // The last byte of a GIF only says that no frame follows.
    const least = bytes.length - (name === "gif" ? 2 : 1)
    for (let length = 12; length <= least; length++) assert.isDefined(imageFault(bytes.subarray(0, length)), `${length} bytes`)
  })

  it.each(all)("that has junk behind its first bytes has one: %s", (_, bytes) => {
    for (const junk of [0, 1, 0x2c, 0xff]) assert.isDefined(imageFault(Buffer.concat([bytes.subarray(0, 12), Buffer.alloc(200, junk)])))
  })

  it("of which a byte was changed is looked at without harm, and a changed PNG has a fault", () => {
    for (const [name, bytes] of all) {
      for (let at = 12; at < bytes.length; at++) {
        const changed = Buffer.from(bytes)
        changed[at] = (changed[at] ?? 0) ^ 0xff
        const fault = imageFault(changed)
        if (name === "png") assert.isDefined(fault, `byte ${at}`)
      }
    }
  })

  it("is none of words", () => {
    assert.isUndefined(imageTypeOf(Buffer.from("GIF89 is a format")))
    assert.isUndefined(imageFault(Buffer.from("words")))
    assert.isUndefined(imageFault(new Uint8Array(0)))
  })
})
