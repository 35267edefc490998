/** What the reducer wants done: with the agent, the extensions, the sessions. What comes of it goes back as an event. */
import { Effect } from "effect"
import type { Command } from "./Command.ts"
import { makeAccess } from "./errand/Access.ts"
import { makeCare } from "./errand/Care.ts"
import { type Errand, type ErrandsOptions, makeErrandRoom } from "./errand/ErrandRoom.ts"
import { makeLists } from "./errand/Lists.ts"
import { makePictures } from "./errand/Pictures.ts"
import { makePreferences } from "./errand/Preferences.ts"
import { makeStanding } from "./errand/Standing.ts"
import { makeTalk } from "./errand/Talk.ts"
import { makeTrial } from "./errand/Trial.ts"

/** Makes the errands. */
export const makeErrands = (options: ErrandsOptions) => {
  const room = makeErrandRoom(options)
  const { company, diagnosis, tell } = room
  const standing = makeStanding(room)
  const talk = makeTalk(room, standing)
  const access = makeAccess(room, standing)
  const lists = makeLists(room)
  const care = makeCare(room)
  const pictures = makePictures(room)
  const trial = makeTrial(room)
  const preferences = makePreferences(room, standing)

  const withAgent = (command: Command): Errand => {
    switch (command.type) {
      case "steer":
      case "followUp":
        return talk.queue(command.type, command.text)
      case "takeBack":
        return talk.giveBack
      case "act":
        return care.act(command.key, command.action, command.text)
      case "restart":
        return care.restart(command.key)
      case "disable":
        return care.disable(command.key)
      case "log":
        return care.readLog(command.key)
      case "shortcut":
        return care.shortcut(command.extension, command.handle)
      case "list":
        return command.what === "login" ? access.listProviders() : command.what === "settings" ? preferences.list : lists.list(command.what)
      case "session":
        return lists.session(command.deed)
      case "gather":
        return Effect.flatMap(company, standing.gather)
      case "select":
        return standing.select(command.value)
      case "provide":
        return standing.provide(command.provider)
      case "think":
        return standing.think(command.level)
      case "login":
        return access.login(command.provider)
      case "trial":
        return trial
      case "cycleMode":
        return Effect.flatMap(company, standing.cycleMode)
      case "load":
        return Effect.flatMap(company, standing.load)
      default:
        return Effect.void
    }
  }
  const errand = (command: Command): Errand => {
    switch (command.type) {
      case "prompt":
        return talk.prompt(command.words)
      case "shell":
        return talk.shell(command)
      case "aside":
        return talk.aside(command.text)
      case "interrupt":
        return talk.interrupt
      case "picture":
        return command.file === undefined ? pictures.fromClipboard : pictures.fromFile(command.file)
      case "setting":
        return preferences.set(command.key, command.value)
      case "keepTheme":
        return standing.keepTheme(command.theme)
      case "makeExtension":
        return care.make(command.name)
      case "logout":
        return access.logout(command.provider)
      case "auth":
        return access.auth
      case "doctor":
        return Effect.flatMap(diagnosis, (text) => tell(text.trimEnd()))
      default:
        return Effect.flatMap(company, ({ within }) => within(withAgent(command)))
    }
  }
  return { errand, load: standing.load }
}
