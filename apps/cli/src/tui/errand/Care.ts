/** What a person does with extensions: their buttons and keys, starting them afresh, switching them off, reading their logs. */
import { Effect, FileSystem, Path } from "effect"
import { logNameOf } from "@nimlet/extension"
import { saveSetting } from "../../SettingsFile.ts"
import type { ErrandRoom } from "./ErrandRoom.ts"

const logLines = 12

/** The errands of extensions. */
export const makeCare = ({ company, home, settingsFile, show, state, tell }: ErrandRoom) => {
  const readLog = Effect.fnUntraced(function*(key: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const { logs } = yield* company
    const text = yield* Effect.orElseSucceed(fs.readFileString(path.join(logs, logNameOf(key))), () => "")
    yield* show({ type: "log", key, lines: text.trimEnd() === "" ? [] : text.trimEnd().split("\n").slice(-logLines) })
  })

  const look = Effect.flatMap(company, ({ extensions }) => Effect.flatMap(extensions.figures, (figures) => show({ type: "figures", figures })))
  const nameOf = (key: string) => state().figures.find((one) => one.key === key)?.manifest.name ?? key

  /** What a person switched off stays off the next time, too. */
  const disable = Effect.fnUntraced(function*(key: string) {
    const { extensions } = yield* company
    const name = nameOf(key)
    if (!(yield* extensions.disable(key))) return
    yield* Effect.andThen(saveSetting(settingsFile, ["extensions", name, "disabled"], true), look)
    yield* tell(`${name} is switched off, also for the next time: extensions.${name}.disabled in ~/.nimlet/config.json. In this session r starts it again.`)
  }, Effect.catch((error) => tell(error.message, "warning")))

  const restart = Effect.fnUntraced(function*(key: string) {
    const { extensions } = yield* company
    const wasOff = state().figures.some((one) => one.key === key && one.state === "Stopped" && one.fault === undefined)
    if (!(yield* extensions.restart(key)) || !wasOff) return
    yield* saveSetting(settingsFile, ["extensions", nameOf(key), "disabled"], false)
  }, Effect.catch((error) => tell(error.message, "warning")))

  const make = Effect.fnUntraced(function*(name: string) {
    const path = yield* Path.Path
    const { makeExtension } = yield* Effect.promise(() => import("../../NewExtension.ts"))
    const folder = yield* makeExtension(path.join(home, ".nimlet", "extensions"), name)
    yield* tell(`${folder} holds a small extension: main.mjs is the program, extension.json says how it is started. /reload starts it; /${name} is its command.`)
  }, Effect.catch((error) => tell(error.message, "warning")))

  const act = Effect.fnUntraced(function*(key: string, action: string, text?: string) {
    const { extensions } = yield* company
    if (!(yield* extensions.act(key, action, text))) yield* tell(`That is no longer offered by ${key.split(":")[0] ?? key}.`, "warning")
  })

  const shortcut = Effect.fnUntraced(function*(extension: string, handle: number) {
    const { extensions } = yield* company
    yield* extensions.invoke(extension, handle, [])
  }, (effect, extension) => Effect.catch(effect, (error) => tell(`The key of ${extension} did not work: ${error.message}`, "warning")))

  return { readLog, disable, restart, make, act, shortcut }
}
