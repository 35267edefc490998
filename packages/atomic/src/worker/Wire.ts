/** The worker's end of the protocol: lines as JSON over a port, and answers matched to what was asked. */
import type { MessagePort } from "node:worker_threads"
import { type Fields, isFields, textOf } from "./Values.ts"

/** UTF-16 units under way before lines wait here. */
const window = 1024 * 1024
/** What has been taken is said when it comes to this much: each word of it would wake a thread. */
const worthSaying = window / 4
/** Half of what the host takes of requests at once, because it counts one for a moment longer than its answer takes; more wait here. */
const maxOpen = 8

interface Inquiry {
  readonly id: string
  readonly line: Fields
  readonly settle: (answer: Fields) => void
}

/** One worker's connection. */
export class Wire {
  readonly #port: MessagePort
  readonly #unsent: Array<string> = []
  readonly #asked = new Map<string, Inquiry>()
  readonly #queued: Array<Inquiry> = []
  #underWay = 0
  #unsaid = 0
  #lastId = 0
  #beforeReply: () => void = () => undefined
  /** Whether answers to what was not asked here go where all other messages go. */
  passesAnswers = false

  /** `onMessage` gets what is no answer, `onEnd` is called when the host says no more. */
  constructor(port: MessagePort, onMessage: (message: Fields) => void, onEnd: () => void) {
    this.#port = port
    const hear = (text: string): void => {
      const line: unknown = JSON.parse(text)
      if (isFields(line) && !this.#answered(line)) onMessage(line)
    }
    port.on("message", (message: unknown) => {
      if (message === null) return onEnd()
      if (typeof message === "number") return this.#taken(message)
      if (typeof message !== "string") return
      if (!message.includes("\n")) hear(message)
      else for (const text of message.split("\n")) hear(text)
      this.#unsaid += message.length
      if (this.#unsaid < worthSaying) return
      port.postMessage(this.#unsaid)
      this.#unsaid = 0
    })
  }

  /** Called before each reply, for what has to be there first. */
  set beforeReply(act: () => void) {
    this.#beforeReply = act
  }

  /** Sends a message. */
  send(line: Fields): void {
    const text = JSON.stringify(line)
    if (this.#underWay > window) this.#unsent.push(text)
    else this.#post(text)
  }

  /** Answers the host's request `id`. */
  reply(id: string, fields: Fields): void {
    this.#beforeReply()
    this.send({ type: "response", id, ...fields })
  }

  /** Asks the host; the answer comes as it is. Aborting `signal` gives it up, which settles it with `cancelled`. */
  ask(line: Fields, signal?: AbortSignal): Promise<Fields> {
    const id = `w${++this.#lastId}`
    const { promise, resolve } = Promise.withResolvers<Fields>()
    if (signal?.aborted === true) return Promise.resolve({ cancelled: true })
    const giveUp = () => {
      const at = this.#queued.findIndex((each) => each.id === id)
      if (at !== -1) this.#queued.splice(at, 1)
      else if (this.#asked.delete(id)) {
        if (line["type"] === "ui_request") this.send({ type: "ui_cancel", id })
        this.#next()
      }
      resolve({ cancelled: true })
    }
    signal?.addEventListener("abort", giveUp, { once: true })
    const settle = (answer: Fields) => {
      signal?.removeEventListener("abort", giveUp)
      resolve(answer)
    }
    const inquiry: Inquiry = { id, line: { ...line, id }, settle }
    if (this.#asked.size < maxOpen) this.#begin(inquiry)
    else this.#queued.push(inquiry)
    return promise
  }

  #begin(inquiry: Inquiry): void {
    this.#asked.set(inquiry.id, inquiry)
    this.send(inquiry.line)
  }

  #answered(line: Fields): boolean {
    if (line["type"] !== "ui_response" && line["type"] !== "host_response") return false
    const id = textOf(line["id"])
    const inquiry = this.#asked.get(id)
    if (inquiry === undefined && this.passesAnswers) return false
    this.#asked.delete(id)
    inquiry?.settle(line)
    this.#next()
    return true
  }

  #next(): void {
    const inquiry = this.#asked.size < maxOpen ? this.#queued.shift() : undefined
    if (inquiry !== undefined) this.#begin(inquiry)
  }

  #taken(units: number): void {
    this.#underWay -= units
    while (this.#underWay <= window) {
      const text = this.#unsent.shift()
      if (text === undefined) return
      this.#post(text)
    }
  }

  #post(text: string): void {
    this.#underWay += text.length
    this.#port.postMessage(text)
  }
}
