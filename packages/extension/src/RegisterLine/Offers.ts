/** The parts of `register` that came with later generations: modes and providers. One bad one fails the start. */
import { Result, Schema } from "effect"
import { type JsonObject, RegisteredMode, type RegisteredProvider } from "@nimlet/protocol"
import { isJsonObject } from "../Json.ts"

/** Ids of the modes every session has. */
const reservedModes = ["act", "plan"]

const notBlank = Schema.String.check(Schema.isPattern(/\S/))
const { id: _id, tools: _tools, ...kept } = RegisteredMode.fields
const isMode = Schema.is(Schema.Struct({ ...kept, id: notBlank, label: notBlank, prompt: notBlank }))
const isTools = Schema.is(Schema.NonEmptyArray(notBlank))

/** The modes of one registration, or the sentence for the first that is wrong. */
export const modesIn = (list: ReadonlyArray<unknown>): Result.Result<ReadonlyArray<RegisteredMode>, string> => {
  const modes = new Map<string, RegisteredMode>()
  for (const mode of list) {
    if (!isMode(mode)) return Result.fail("register modes require id, label, prompt, and permissions")
    const id = mode.id.trim()
    if (reservedModes.includes(id.toLowerCase())) return Result.fail(`register modes cannot use reserved id '${id}'`)
    if (modes.has(id)) return Result.fail(`duplicate register mode id '${id}'`)
    const tools: unknown = "tools" in mode ? mode.tools : undefined
    if (!isTools(tools)) return Result.fail("register modes require a non-empty tools array")
    const { label, permissions, prompt } = mode
    modes.set(id, { id, label, permissions, prompt, tools })
  }
  return Result.succeed([...modes.values()])
}

const incomplete = "extension providers require name, api_url (http or https), default_model, and api_key_env unless " +
  "requires_api_key is false; models and api_key_env hold strings"

const isAddress = (text: string): boolean => {
  const { protocol } = URL.parse(text) ?? {}
  return protocol === "https:" || protocol === "http:"
}

const absent = (value: unknown) => value === undefined || value === null
const Strings = Schema.Array(Schema.NonEmptyString)
const isProvider = Schema.is(Schema.Struct({
  name: notBlank,
  api_url: Schema.String.check(Schema.makeFilter(isAddress)),
  default_model: notBlank,
  models: Strings,
  api_key_env: Strings,
  requires_api_key: Schema.Boolean
}))

const providerOf = (value: unknown): Result.Result<RegisteredProvider, string> => {
  const line: JsonObject = isJsonObject(value) ? value : {}
  if (line.api !== "openai-chat-completions") return Result.fail("extension providers must use openai-chat-completions")
  const whole = {
    ...line,
    models: absent(line.models) ? [] : line.models,
    api_key_env: absent(line.api_key_env) ? [] : line.api_key_env,
    requires_api_key: absent(line.requires_api_key) ? true : line.requires_api_key
  }
  if (!isProvider(whole) || (whole.requires_api_key && whole.api_key_env.length === 0)) return Result.fail(incomplete)
  const { api_key_env, api_url, default_model, models, name, requires_api_key } = whole
  return Result.succeed({ name: name.trim(), api: line.api, api_url, default_model, models, api_key_env, requires_api_key })
}

/** The providers of one registration, or the sentence for the first that is wrong. */
export const providersIn = (list: ReadonlyArray<unknown>): Result.Result<ReadonlyArray<RegisteredProvider>, string> =>
  Result.all(list.map(providerOf))
