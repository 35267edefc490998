/** Pictures for a message: from the clipboard, or from a file that was dragged to the terminal. */
import { Effect, FileSystem, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { brokenImage, imageTypeOf } from "@nimlet/protocol"
import type { ErrandRoom } from "./ErrandRoom.ts"

/** As large a picture as models take. */
const most = 5 * 1024 * 1024
/** How long a program that reads the clipboard may take. */
const patience = "3 seconds"

const powershell = "Add-Type -AssemblyName System.Windows.Forms,System.Drawing; $i=[Windows.Forms.Clipboard]::GetImage(); if($i){$m=New-Object IO.MemoryStream; $i.Save($m,[Drawing.Imaging.ImageFormat]::Png); $o=[Console]::OpenStandardOutput(); $b=$m.ToArray(); $o.Write($b,0,$b.Length)}"

/** Programs that write the picture in the clipboard to their output, the likeliest first. Pure. */
export const clipboardReaders = (platform: string, environment: Readonly<Record<string, string>>): ReadonlyArray<readonly [string, ...ReadonlyArray<string>]> => {
  if (platform === "darwin") return [["pngpaste", "-"], ["osascript", "-l", "JavaScript", "-e", "ObjC.import('AppKit'); const d=$.NSPasteboard.generalPasteboard.dataForType('public.png'); if(!d.isNil()) $.NSFileHandle.fileHandleWithStandardOutput.writeData(d)"]]
  if (platform === "win32") return [["powershell.exe", "-NoProfile", "-STA", "-Command", powershell]]
  const wayland = ["wl-paste", "--no-newline", "--type", "image/png"] as const
  const x11 = ["xclip", "-selection", "clipboard", "-target", "image/png", "-out"] as const
  return [...(environment["WAYLAND_DISPLAY"] === undefined ? [] : [wayland]), ...(environment["DISPLAY"] === undefined ? [] : [x11]), ...(environment["WSL_DISTRO_NAME"] === undefined ? [] : [["powershell.exe", "-NoProfile", "-STA", "-Command", powershell] as const])]
}

/** The errands of pictures. */
export const makePictures = ({ environment, platform, show, tell }: ErrandRoom) => {
  const attach = (bytes: Uint8Array) => {
    const mimeType = imageTypeOf(bytes)
    if (mimeType === undefined || bytes.length > most || brokenImage(bytes) !== undefined) return undefined
    return show({ type: "pictured", picture: { mimeType, data: Buffer.from(bytes).toString("base64") } })
  }

  const printed = ([program, ...args]: readonly [string, ...ReadonlyArray<string>]) => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    const take = (chunk: Uint8Array) =>
      Effect.suspend(() => {
        chunks.push(chunk)
        size += chunk.length
        return size > most ? Effect.fail("it is larger than models take") : Effect.void
      })
    return Effect.scoped(Effect.flatMap(
      ChildProcess.make(program, args, { stdin: "ignore", stderr: "ignore", env: environment, detached: false, forceKillAfter: "500 millis" }),
      ({ stdout }) => Stream.runForEach(stdout, take)
    )).pipe(
      Effect.timeout(patience),
      Effect.match({ onFailure: () => Buffer.alloc(0), onSuccess: () => Buffer.concat(chunks) })
    )
  }

  const fromClipboard = Effect.gen(function*() {
    const readers = clipboardReaders(platform, environment)
    for (const reader of readers) {
      const done = attach(yield* printed(reader))
      if (done !== undefined) return yield* done
    }
    const names = readers.map(([name]) => name).join(" or ")
    yield* tell(names === "" ? "The clipboard cannot be read here; @FILE sends a picture along." : `No picture of at most 5 MB is in the clipboard, or ${names} is not installed; @FILE sends a picture along.`, "warning")
  })

  /** A path that leads to no picture is text like any other. */
  const fromFile = Effect.fnUntraced(function*({ path, text }: { readonly path: string; readonly text: string }) {
    const fs = yield* FileSystem.FileSystem
    const size = yield* Effect.match(fs.stat(path), { onFailure: () => 0, onSuccess: ({ size, type }) => type === "File" ? Number(size) : 0 })
    const bytes = size === 0 || size > most ? new Uint8Array() : yield* Effect.orElseSucceed(fs.readFile(path), () => new Uint8Array())
    yield* attach(bytes) ?? show({ type: "written", text })
  })

  return { fromClipboard, fromFile }
}
