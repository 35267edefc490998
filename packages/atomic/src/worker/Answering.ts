/** An answer of the model as it grows: the host sends what is new, handlers are given all of it so far. */
import { type Fields, fieldsOf, listOf, textOf } from "./Values.ts"

const kinds: Readonly<Record<string, string>> = { text: "text", thinking: "thinking", tool_call: "toolcall" }

/** What one worker knows of the answer that is under way. */
export class Answering {
  #answer: unknown
  #message: { readonly role: string; readonly content: Array<Fields>; readonly timestamp: number } = { role: "assistant", content: [], timestamp: 0 }
  /** Place of each part by the number the host gives it. */
  #places = new Map<unknown, number>()

  /** Takes a payload of `message_update`: the events to tell of, each with the message as it is then. */
  take({ answer, deltas }: Fields, now: number): ReadonlyArray<Fields> {
    if (answer !== this.#answer) {
      this.#answer = answer
      this.#message = { role: "assistant", content: [], timestamp: now }
      this.#places = new Map()
    }
    return listOf(deltas).map(fieldsOf).flatMap((delta) => this.#grow(delta))
  }

  #grow(delta: Fields): ReadonlyArray<Fields> {
    const { content } = this.#message
    const kind = textOf(delta["kind"])
    const known = this.#places.get(delta["index"])
    const at = known ?? content.length
    this.#places.set(delta["index"], at)
    const before = content[at]
    const isCall = kind === "tool_call"
    const part: Fields = isCall
      ? { type: "toolCall", id: delta["id"], name: delta["name"], arguments: delta["arguments"] }
      : { type: kind, [kind]: textOf(before?.[kind]) + textOf(delta["delta"]) }
    content[at] = part
    const message: Fields = { ...this.#message, content: [...content] }
    const event = (what: string, more: Fields = {}): Fields => ({ message, event: { type: `${kinds[kind] ?? kind}_${what}`, contentIndex: at, partial: message, ...more } })
    return [
      ...(known === undefined ? [event("start")] : []),
      isCall ? event("end", { toolCall: part }) : event("delta", { delta: delta["delta"] })
    ]
  }
}
