/** Pictures from a clipboard, whose program is one of ours here, and from files. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Path } from "effect"
import type { Event } from "../../src/tui/Event.ts"
import { type ErrandNeeds, type ErrandsOptions, makeErrandRoom } from "../../src/tui/errand/ErrandRoom.ts"
import { clipboardReaders, makePictures } from "../../src/tui/errand/Pictures.ts"

const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC", "base64")

const withPictures = <A>(
  options: { readonly program?: string; readonly environment?: Readonly<Record<string, string>> },
  use: (given: { readonly pictures: ReturnType<typeof makePictures>; readonly shown: Array<Event>; readonly folder: string }) => Effect.Effect<A, unknown, ErrandNeeds>
) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const folder = yield* fs.makeTempDirectoryScoped()
    yield* fs.writeFile(path.join(folder, "shot.png"), png)
    yield* fs.writeFileString(path.join(folder, "text.png"), "no picture")
    if (options.program !== undefined) yield* fs.writeFileString(path.join(folder, "wl-paste"), `#!/bin/sh\n${options.program}\n`, { mode: 0o755 })
    const shown: Array<Event> = []
    const environment = { PATH: `${folder}:/usr/bin:/bin`, WAYLAND_DISPLAY: "w", FOLDER: folder, ...options.environment }
    const room = makeErrandRoom({ dispatch: (event: Event) => void shown.push(event), environment, platform: "linux" } as unknown as ErrandsOptions)
    return yield* use({ pictures: makePictures(room), shown, folder })
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

const types = (shown: ReadonlyArray<Event>) => shown.map(({ type }) => type)

describe("a picture from the clipboard", () => {
  it.effect("is what the program of this desktop gives", () =>
    withPictures({ program: "[ \"$3\" = image/png ] && cat \"$FOLDER/shot.png\"" }, ({ pictures, shown }) =>
      Effect.map(pictures.fromClipboard, () => assert.deepStrictEqual(shown, [{ type: "pictured", picture: { mimeType: "image/png", data: png.toString("base64") } }]))))

  it.effect.each([["it holds text", "echo text"], ["it fails", "exit 1"], ["it gives a part of one", "printf '\\211PNG\\r\\n\\032\\n'"], ["it gives too much", "printf '\\211PNG\\r\\n\\032\\n'; exec head -c 6000000 /dev/zero"]] as const)("is refused in words when %s", ([, program]) =>
    withPictures({ program }, ({ pictures, shown }) =>
      Effect.map(pictures.fromClipboard, () => {
        assert.deepStrictEqual(types(shown), ["notice"])
        assert.match(JSON.stringify(shown), /wl-paste.*@FILE/)
      })))

  it.effect("is refused where there is no program, and where there is no desktop", () =>
    Effect.gen(function*() {
      for (const environment of [{ PATH: "/nonexistent" }, { PATH: "/nonexistent", WAYLAND_DISPLAY: "", DISPLAY: "" }]) {
        yield* withPictures({ environment }, ({ pictures, shown }) => Effect.map(pictures.fromClipboard, () => assert.deepStrictEqual(types(shown), ["notice"])))
      }
    }))

  it("is read by what each platform has", () => {
    const names = (platform: string, environment: Readonly<Record<string, string>> = {}) => clipboardReaders(platform, environment).map(([name]) => name)
    assert.deepStrictEqual(names("darwin"), ["pngpaste", "osascript"])
    assert.deepStrictEqual(names("win32"), ["powershell.exe"])
    assert.deepStrictEqual(names("linux", { WAYLAND_DISPLAY: "w", DISPLAY: ":0" }), ["wl-paste", "xclip"])
    assert.deepStrictEqual(names("linux", { WSL_DISTRO_NAME: "x" }), ["powershell.exe"])
    assert.deepStrictEqual(names("linux"), [])
  })
})

describe("a picture from a file", () => {
  it.effect("goes along, and what is none stays the text that was pasted", () =>
    withPictures({}, ({ folder, pictures, shown }) =>
      Effect.gen(function*() {
        yield* pictures.fromFile({ path: `${folder}/shot.png`, text: "a" })
        for (const name of ["text.png", "none.png", "."]) yield* pictures.fromFile({ path: `${folder}/${name}`, text: `pasted ${name}` })
        assert.deepStrictEqual(shown, [
          { type: "pictured", picture: { mimeType: "image/png", data: png.toString("base64") } },
          { type: "written", text: "pasted text.png" }, { type: "written", text: "pasted none.png" }, { type: "written", text: "pasted ." }
        ])
      })))
})
