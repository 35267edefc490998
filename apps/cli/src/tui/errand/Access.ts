/** Keys of providers: asked for on the screen, kept in a file of the person's own, forgotten. */
import { Effect } from "effect"
import { presets } from "@nimlet/provider"
import { dropKey, keySources, saveKey } from "../../KeyFile.ts"
import type { ErrandRoom } from "./ErrandRoom.ts"
import type { Standing } from "./Standing.ts"

/** The errands of keys. */
export const makeAccess = ({ company, environment, home, show, frontend, tell }: ErrandRoom, { answerWith }: Standing) => {
  const told = Effect.catch((error: { readonly message: string }) => tell(error.message, "warning"))

  const listProviders = Effect.fnUntraced(function*() {
    const sources = yield* keySources(home, environment)
    yield* show({
      type: "items",
      what: "login",
      items: sources.map(({ provider, source, variables }) => ({ value: provider, label: provider, about: source === undefined ? `no key (${variables[0]})` : `has one (${source})` }))
    })
  }, told)

  const login = Effect.fnUntraced(function*(provider: string) {
    const given = yield* company
    const names = new Set([...Object.keys(presets), ...(yield* given.models).map((one) => one.provider)])
    if (!names.has(provider)) return yield* tell(`There is no provider '${provider}'; /login lists those there are.`, "warning")
    const answer = yield* frontend.input({ asker: "nimlet", prompt: `The key for ${provider}? It is kept in ~/.nimlet/auth.json, which only you can read.`, secret: true })
    if (answer.cancelled || answer.answer.trim() === "") return yield* tell("No key was kept.")
    yield* saveKey(home, provider, answer.answer.trim())
    const model = presets[provider]?.defaultModel
    if (model === undefined) return yield* tell(`The key for ${provider} is kept; /model chooses one of its models.`)
    yield* answerWith({ provider, model })
  }, told)

  const logout = Effect.fnUntraced(function*(provider: string) {
    const dropped = yield* dropKey(home, provider)
    yield* tell(dropped ? `The key for ${provider} is forgotten; who answers now goes on until you leave.` : `~/.nimlet/auth.json has no key for '${provider}'.`)
  }, told)

  const auth = Effect.gen(function*() {
    const sources = yield* keySources(home, environment)
    yield* tell(sources.map(({ provider, source, variables }) => `${provider.padEnd(12)} ${source === undefined ? `no key: /login ${provider}, or ${variables.join(" or ")}` : `key from ${source}`}`).join("\n"))
  }).pipe(told)

  return { listProviders, login, logout, auth }
}
