import { assert, describe, it } from "@effect/vitest"
import { pictures } from "../../../test/kit/Pictures.ts"
import { brokenImage, givenImageFault, imageFault, imageTypeOf } from "../src/Image.ts"

const all = Object.entries(pictures)

describe("a picture", () => {
  it.each(all)("that is whole has no fault: %s", (_, bytes) => {
    assert.isDefined(imageTypeOf(bytes))
    assert.isUndefined(brokenImage(bytes))
    assert.isUndefined(brokenImage(Buffer.concat([bytes, Buffer.from("something behind it")])))
  })

  it.each(all)("that ends too early has one, wherever it ends: %s", (name, bytes) => {
    // The last byte of a GIF only says that no frame follows.
    const least = bytes.length - (name === "gif" ? 2 : 1)
    for (let length = 12; length <= least; length++) assert.isDefined(brokenImage(bytes.subarray(0, length)), `${length} bytes`)
  })

  it.each(all)("that has junk behind its first bytes has one: %s", (_, bytes) => {
    for (const junk of [0, 1, 0x2c, 0xff]) assert.isDefined(brokenImage(Buffer.concat([bytes.subarray(0, 12), Buffer.alloc(200, junk)])))
  })

  it("of which a byte was changed is looked at without harm, and a changed PNG has a fault", () => {
    for (const [name, bytes] of all) {
      for (let at = 12; at < bytes.length; at++) {
        const changed = Buffer.from(bytes)
        changed[at] = (changed[at] ?? 0) ^ 0xff
        const fault = brokenImage(changed)
        if (name === "png") assert.isDefined(fault, `byte ${at}`)
      }
    }
  })

  it("is none of words", () => {
    assert.isUndefined(imageTypeOf(Buffer.from("GIF89 is a format")))
    assert.isUndefined(brokenImage(Buffer.from("words")))
    assert.isUndefined(brokenImage(new Uint8Array(0)))
  })

  it("that an extension gives is held against its type, and must be whole", () => {
    const data = pictures.jpeg.toString("base64")
    assert.isUndefined(givenImageFault("image/jpeg", data))
    for (const fault of [imageFault, givenImageFault]) assert.strictEqual(fault("image/png", data), "its type is image/png, but it is image/jpeg")
    assert.strictEqual(givenImageFault("image/png", Buffer.from("words and more words").toString("base64")), "it does not begin like image/png")
    assert.strictEqual(givenImageFault("image/png", pictures.png.subarray(0, 60).toString("base64")), "it ends too early")
    // Lines, as some programs write base64.
    assert.isUndefined(givenImageFault("image/png", pictures.png.toString("base64").replace(/.{20}/g, "$&\n")))
  })
})
