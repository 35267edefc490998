/**
 * An exchange with nobody. The SDK makes its checks of what a provider sends when the first piece of an answer comes, which
 * waits for them as long as for the network; so they are made before, with an answer of our own.
 */
import { StreamedResponse } from "../StreamedResponse.ts"
import type { AiSdkModel, AiStreamPart, Fetch } from "./Model.ts"

const encoder = new TextEncoder()

/** The body of an answer: server-sent events, each with its `type` as its name where it has one. */
export const bodyOf = (events: ReadonlyArray<{ readonly type?: string; readonly [key: string]: unknown }>): string =>
  events.map((event) => `${event.type === undefined ? "" : `event: ${event.type}\n`}data: ${JSON.stringify(event)}\n\n`).join("")

// Foreign edge: the SDK speaks in promises and web streams.
/** Asks a model whose server is `body` and gives what it made of it. Nothing is sent. Rejects where the SDK refuses. */
export const rehearse = async (model: (fetch: Fetch) => AiSdkModel, body: string): Promise<ReadonlyArray<AiStreamPart>> => {
  const fetch: Fetch = async () =>
    new StreamedResponse({
      url: "",
      status: 200,
      statusText: "OK",
      headers: new Headers({ "content-type": "text/event-stream" }),
      body: new ReadableStream({
        pull: (controller) => {
          controller.enqueue(encoder.encode(body))
          controller.close()
        }
      })
    })
  const { stream } = await model(fetch).doStream({ prompt: [{ role: "user", content: [{ type: "text", text: "?" }] }] })
  const reader = stream.getReader()
  const parts: Array<AiStreamPart> = []
  for (let read = await reader.read(); !read.done; read = await reader.read()) parts.push(read.value)
  return parts
}
