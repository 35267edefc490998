/** The events around what is said to a model and what it says: `input`, `before_agent_start`, `context`, `message_end`. */
import { Effect } from "effect"
import type * as Prompt from "effect/ai/Prompt"
import { Diagnostics, type Hooks } from "@nimlet/extension"
import type { ContentPart, HookImage, HookPayload, TextPart } from "@nimlet/protocol"
import { textOf } from "@nimlet/protocol"
import { Offline } from "@nimlet/provider"
import type { Entries } from "@nimlet/session"
import { chatMessages, fromChatMessage } from "./ChatMessages.ts"
import type { AboutSession } from "./Selection.ts"

/** Words that no person typed: an extension's, a file's. The offline model does not act on them. */
export const untypedText = (text: string): TextPart => ({ type: "text", text, provider_data: Offline.typed(false) })

/** What a user message says, as one text. */
export const promptOf = (content: ReadonlyArray<ContentPart>): string =>
  content.flatMap((part) => part.type === "text" ? [part.text] : []).join("\n\n")

const imagesOf = (content: ReadonlyArray<ContentPart>): ReadonlyArray<HookImage> =>
  content.flatMap((part, index) =>
    part.type === "image" && part.data !== undefined
      ? [{ type: part.type, name: part.path ?? `image-${index + 1}`, mime_type: part.mimeType, data: part.data }]
      : [])

/** What is to be saved as the user's words, or why the turn is not to be. */
export type Admission =
  | { readonly _tag: "Admitted"; readonly content: ReadonlyArray<ContentPart> }
  | { readonly _tag: "Refused"; readonly reason: string }
  /** An extension has done what was asked. */
  | { readonly _tag: "Handled" }

/** Where words come from that no person said here. */
export type InputSource = NonNullable<HookPayload<"input">["source"]>

/** `input`: before anything of the user's words is saved. A new text takes the place of all texts, new images that of all images. */
export const admit = Effect.fnUntraced(function*(hooks: Hooks["Service"], about: AboutSession, content: ReadonlyArray<ContentPart>, source?: InputSource) {
  if (!hooks.subscribed("input")) return { _tag: "Admitted", content } satisfies Admission
  const text = promptOf(content)
  const images = imagesOf(content)
  const outcome = yield* hooks.run("input", { ...about, text, images, ...(source === undefined ? {} : { source }) })
  if (outcome._tag === "Blocked") return outcome.handled === true ? { _tag: "Handled" } satisfies Admission : { _tag: "Refused", reason: outcome.reason } satisfies Admission
  const shown = outcome.payload.images === images
    ? content
    : [...content.filter((part) => part.type !== "image"), ...outcome.payload.images.map(({ data, mime_type }): ContentPart => ({ type: "image", mimeType: mime_type, data }))]
  if (outcome.payload.text === text) return { _tag: "Admitted", content: shown } satisfies Admission
  const typed = content.filter((part) => part.type === "text").length === 1
  const changed: ContentPart = typed ? { type: "text", text: outcome.payload.text } : untypedText(outcome.payload.text)
  return { _tag: "Admitted", content: [changed, ...shown.filter((part) => part.type !== "text")] } satisfies Admission
})

/** `before_agent_start`: the base system text of this run, and what is said after the user's words. */
export const beforeStart = Effect.fnUntraced(function*(
  hooks: Hooks["Service"],
  about: AboutSession,
  content: ReadonlyArray<ContentPart>,
  system: string
) {
  if (!hooks.subscribed("before_agent_start")) return { system, messages: [] }
  const { messages = [], payload } = yield* hooks.run("before_agent_start", {
    ...about,
    prompt: promptOf(content),
    images: imagesOf(content),
    system_prompt: system
  })
  return { system: payload.system_prompt, messages }
})

/** What extensions add to the requests of one step; none of it is saved. */
export interface Additions {
  readonly system: ReadonlyArray<string>
  readonly messages: ReadonlyArray<Prompt.Message>
  /** What stands for the conversation itself, where an extension changed it. */
  readonly replaced?: ReadonlyArray<Prompt.Message>
}

const nothing: Additions = { system: [], messages: [] }

/** `context`: before a model step. Messages that cannot be added are left out with a warning. */
export const contextAdditions = Effect.fnUntraced(function*(
  hooks: Hooks["Service"],
  system: ReadonlyArray<string>,
  entries: Effect.Effect<Entries>
) {
  if (!hooks.subscribed("context")) return nothing
  const messages = chatMessages(yield* entries)
  const { changedBy, payload } = yield* hooks.run("context", { system, messages })
  const added = payload.messages.slice(messages.length)
  const usable = added.map(fromChatMessage).filter((message) => message !== undefined)
  if (usable.length < added.length) {
    const diagnose = yield* Diagnostics
    yield* diagnose({
      level: "warning",
      message: `context: ${added.length - usable.length} messages of ${changedBy.join(", ")} were left out; a message needs role user or assistant, and text`
    })
  }
  return { system: payload.system.slice(system.length), messages: usable } satisfies Additions
})

/**
 * Puts `text` in the place of all texts of an answer, where the first of them stood, else before its first call. What the
 * provider sent with a replaced text belongs to that text and goes with it. Pure.
 */
export const replaceText = (content: ReadonlyArray<ContentPart>, text: string): ReadonlyArray<ContentPart> => {
  const kept = content.filter((part) => part.type !== "text")
  if (text === "") return kept.some((part) => part.type !== "thinking") ? kept : []
  const first = content.findIndex((part) => part.type === "text" || part.type === "tool_use")
  const at = first === -1 ? kept.length : first
  return [...kept.slice(0, at), { type: "text", text }, ...kept.slice(at)]
}

/** `message_end`: the content of a finished answer as it is to be saved. */
export const finishedContent = Effect.fnUntraced(function*(hooks: Hooks["Service"], about: AboutSession, content: ReadonlyArray<ContentPart>) {
  if (!hooks.subscribed("message_end")) return content
  const text = textOf(content)
  const { payload } = yield* hooks.run("message_end", { ...about, role: "assistant", text })
  return payload.text === text ? content : replaceText(content, payload.text)
})
