/**
 * A strict model provider on loopback: Anthropic Messages, OpenAI Chat Completions and Responses, Google's Gemini API and
 * Mistral's chat completions, streamed and whole.
 * It plays a scenario, one step a request, refuses what the real services refuse, and remembers every request.
 *
 * `PUT /stub/scenario` sets a new scenario and forgets the requests, `GET /stub/requests` lists them: for those who
 * run it as a process of its own (`model-stub.ts`).
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { setImmediate, setTimeout } from "node:timers/promises"
import { anthropicWire } from "./AnthropicWire.ts"
import { chatWire } from "./ChatWire.ts"
import { makeGoogleWire } from "./GoogleWire.ts"
import { mistralWire } from "./MistralWire.ts"
import { makeResponsesWire } from "./ResponsesWire.ts"
import { expand, type Move, type Scenario, type Step, textOf } from "./Scenario.ts"
import { type Answer, type Frame, frame, type Headers, type Json, objectAt, Refusal, refuse, type Wire } from "./Wire.ts"

/** Milliseconds of the machine's monotonic clock, comparable between processes. */
export const clock = (): number => Number(process.hrtime.bigint()) / 1e6

/** One request as the stub saw it. `body` is undefined when it was no JSON object. */
export interface StubRequest {
  /** Counts all requests of the stub from 1, refused ones too, over changes of the scenario. */
  readonly serial: number
  readonly api: Wire["api"] | undefined
  readonly method: string
  readonly path: string
  readonly headers: Headers
  readonly body: Json | undefined
  /** When it had arrived in full, by `clock`. */
  readonly at: number
  /** When its head came, by the same clock: it is what its sender did until then. */
  readonly arrivedAt: number
  /** Why it was refused, in the words of the error body. */
  problem: string | undefined
  status: number
  /** Events written so far. */
  events: number
  /** True when the client went away before the answer was whole. */
  aborted: boolean
  /** When the answer was over, by `clock`. */
  endedAt: number | undefined
  /** With `stamp`: when each text event was written, and how many characters it carried. */
  readonly stamps: Array<readonly [at: number, length: number]>
}

/** A running stub. `await using` closes it. */
export interface ModelStub extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, without `/v1`. */
  readonly url: string
  readonly port: number
  readonly requests: ReadonlyArray<StubRequest>
  /** Replaces the scenario from its first step on; requests are kept. */
  readonly setScenario: (scenario: Scenario) => void
  /** Waits until the n-th request (from 1) has arrived. */
  readonly arrived: (n: number) => Promise<StubRequest>
  /** Waits until the answer of the n-th request (from 1) is over, one way or the other. */
  readonly ended: (n: number) => Promise<StubRequest>
  readonly close: () => Promise<void>
}

export interface StubOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number
  /** Called when an answer is over. */
  readonly onEnd?: (request: StubRequest) => void
}

const defaultUsage = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0 }

/** Ids hold the port, so that a session met by two stubs has no id twice. */
const answerOf = (step: Step, serial: string, wire: Wire): Answer => ({
  serial,
  thinking: step.thinking ?? "",
  text: textOf(step),
  tools: (step.tools ?? []).map(({ args, id, name }, k) => ({
    id: id ?? `${wire.toolPrefix}${serial}_${k}`,
    name,
    args: typeof args === "string" ? args : JSON.stringify(args ?? {})
  })),
  usage: { ...defaultUsage, ...step.usage },
  finish: step.finish ?? "stop"
})

/** A fault that counts events: undefined when there is none, `true` meaning `whenTrue`. */
const after = (value: boolean | number | undefined, whenTrue: number): number | undefined =>
  value === undefined || value === false ? undefined : value === true ? whenTrue : value

interface Script {
  readonly frames: ReadonlyArray<Frame>
  readonly ending: "end" | "cut" | "hang"
}

/** The events of an answer with the step's fault worked in. */
const scriptOf = ({ faulty, step }: Move, wire: Wire, frames: ReadonlyArray<Frame>): Script => {
  if (!faulty) return { frames, ending: "end" }
  if (step.cutAfter !== undefined) return { frames: frames.slice(0, step.cutAfter), ending: "cut" }
  const silent = after(step.hang, 0)
  if (silent !== undefined) return { frames: frames.slice(0, silent), ending: "hang" }
  if (step.failAfter !== undefined) return { frames: [...frames.slice(0, step.failAfter), wire.failureFrame("the service is overloaded")], ending: "end" }
  const garbled = after(step.garble, 1)
  if (garbled !== undefined) return { frames: [...frames.slice(0, garbled), frame('{"type": <this is no JSON'), ...frames.slice(garbled)], ending: "end" }
  return { frames, ending: "end" }
}

/** One client waiting for one answer. */
interface Exchange {
  readonly response: ServerResponse
  readonly request: StubRequest
  /** Aborted when the connection is gone. */
  readonly gone: AbortSignal
}

const sendJson = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) => {
  response.writeHead(status, { "content-type": "application/json", ...headers })
  response.end(typeof body === "string" ? body : JSON.stringify(body))
}

/** Writes and waits until the data is with the system, or the client gone. */
const flushed = (response: ServerResponse, data: string | Buffer): Promise<void> =>
  new Promise((resolve) => {
    const over = () => {
      response.off("close", over)
      resolve()
    }
    response.on("close", over).write(data, over)
  })

const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const over = () => {
      response.off("drain", over).off("close", over)
      resolve()
    }
    response.on("drain", over).on("close", over)
  })

const writeFrames = async ({ gone, request, response }: Exchange, script: Script, step: Step): Promise<void> => {
  const burst = step.burst ?? (step.pauseMs === undefined ? 32 : 1)
  const size = step.split === "everyByte" ? 1 : step.split
  for (let k = 0; k < script.frames.length && !gone.aborted; k += burst) {
    const batch = script.frames.slice(k, k + burst)
    const data = batch.map((one) => one.data).join("")
    if (step.stamp === true) {
      const now = clock()
      for (const { text } of batch) if (text !== undefined) request.stamps.push([now, text.length])
    }
    if (size === undefined) {
      if (!response.write(data)) await drained(response)
    } else {
      const bytes = Buffer.from(data)
      for (let i = 0; i < bytes.length && !gone.aborted; i += size) {
        await flushed(response, bytes.subarray(i, i + size))
        await setImmediate()
      }
    }
    request.events += batch.length
    if (step.pauseMs !== undefined) await setTimeout(step.pauseMs, undefined, { signal: gone }).catch(() => undefined)
  }
}

const isGone = ({ gone }: Exchange): Promise<void> =>
  gone.aborted ? Promise.resolve() : new Promise((resolve) => gone.addEventListener("abort", () => resolve(), { once: true }))

const play = async (exchange: Exchange, move: Move, wire: Wire, body: Json): Promise<void> => {
  const { request, response } = exchange
  const { faulty, step } = move
  if (step.delayMs !== undefined) await setTimeout(step.delayMs, undefined, { signal: exchange.gone }).catch(() => undefined)
  if (faulty && step.hang === true) return isGone(exchange)
  if (faulty && step.status !== undefined) {
    request.status = step.status
    const retry: Record<string, string> = step.retryAfter === undefined ? {} : { "retry-after": String(step.retryAfter) }
    return sendJson(response, step.status, step.body ?? wire.failure(step.status, `scripted failure ${step.status}`), retry)
  }
  const answer = answerOf(step, `${response.socket?.localPort ?? 0}_${request.serial}`, wire)
  if (!(wire.streams?.(request.path) ?? body["stream"] === true)) {
    const text = JSON.stringify(wire.whole(answer, body))
    if (!faulty) return sendJson(response, 200, text)
    response.writeHead(200, { "content-type": "application/json" })
    await flushed(response, text.slice(0, text.length / 2))
    if (step.hang !== undefined) return isGone(exchange)
    if (step.cutAfter !== undefined) response.destroy()
    else response.end()
    return
  }
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" })
  response.flushHeaders()
  const script = scriptOf(move, wire, [...wire.frames(answer, body)])
  await writeFrames(exchange, script, step)
  if (script.ending === "hang") return isGone(exchange)
  if (script.ending === "end") return void response.end()
  await flushed(response, "")
  response.destroy()
}

const bodyOf = async (incoming: IncomingMessage): Promise<string> => {
  const parts: Array<Buffer> = []
  for await (const part of incoming) parts.push(part as Buffer)
  return Buffer.concat(parts).toString("utf8")
}

const parse = (raw: string): Json => {
  let value: unknown
  try {
    value = JSON.parse(raw)
  } catch {
    refuse("the body is no JSON")
  }
  return objectAt(value, "body")
}

/** Starts a stub on loopback that plays `scenario`. A request beyond its last step gets 400. */
export const startModelStub = async (scenario: Scenario, options: StubOptions = {}): Promise<ModelStub> => {
  const wires = [anthropicWire, chatWire, makeResponsesWire(), makeGoogleWire(), mistralWire]
  const requests: Array<StubRequest> = []
  let waiting: Array<() => void> = []
  let moves = expand(scenario)
  let upcoming = moves.next()
  let served = 0
  const setScenario = (next: Scenario) => {
    const fresh = expand(next)
    upcoming = fresh.next()
    moves = fresh
  }
  const changed = () => {
    const woken = waiting
    waiting = []
    for (const wake of woken) wake()
  }
  const until = async (n: number, done: (request: StubRequest) => boolean): Promise<StubRequest> => {
    for (;;) {
      const request = requests[n - 1]
      if (request !== undefined && done(request)) return request
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
  }

  const control = (incoming: IncomingMessage, raw: string, response: ServerResponse): void => {
    if (incoming.method === "GET" && incoming.url === "/stub/requests") return sendJson(response, 200, requests)
    if (incoming.method !== "PUT" || incoming.url !== "/stub/scenario") return sendJson(response, 404, { error: "no such path" })
    try {
      setScenario(JSON.parse(raw) as Scenario)
    } catch (error) {
      return sendJson(response, 400, { error: String(error) })
    }
    requests.length = 0
    sendJson(response, 200, {})
  }

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const arrivedAt = clock()
    response.on("error", () => undefined)
    // Before its body has come: what a long one takes to be read here is none of the sender's time.
    const at = clock()
    const raw = await bodyOf(incoming)
    const path = incoming.url ?? ""
    if (path.startsWith("/stub/")) return control(incoming, raw, response)
    const wire = incoming.method === "POST" ? wires.find((one) => typeof one.path === "string" ? one.path === path.split("?")[0] : one.path.test(path.split("?")[0] ?? "")) : undefined
    let body: Json | undefined
    let problem: Refusal | undefined
    let move: Move | undefined
    try {
      body = parse(raw)
      if (wire === undefined) refuse(`no such path: ${incoming.method} ${path}`, 404)
      if (!(incoming.headers["content-type"] ?? "").startsWith("application/json")) refuse("content-type: application/json is expected", 415)
      wire.check(body, incoming.headers)
      if (upcoming.done === true) refuse(`the scenario has no step for request ${requests.length + 1}`)
      move = upcoming.value
      upcoming = moves.next()
    } catch (error) {
      problem = error instanceof Refusal ? error : new Refusal(500, `stub: ${String(error)}`)
    }
    const request: StubRequest = {
      serial: ++served, api: wire?.api, method: incoming.method ?? "", path, headers: incoming.headers, body, arrivedAt, at,
      problem: problem?.message, status: problem?.status ?? 200, events: 0, aborted: false, endedAt: undefined, stamps: []
    }
    const gone = new AbortController()
    let cut = false
    response.once("close", () => {
      request.aborted = !response.writableFinished && !cut
      request.endedAt = clock()
      gone.abort()
      options.onEnd?.(request)
      changed()
    })
    requests.push(request)
    changed()
    if (problem !== undefined) return sendJson(response, problem.status, (wire ?? chatWire).failure(problem.status, problem.message))
    if (wire === undefined || body === undefined || move === undefined) return
    cut = move.faulty && move.step.cutAfter !== undefined
    await play({ response, request, gone: gone.signal }, move, wire, body)
  }

  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy())
  })
  server.keepAliveTimeout = 60_000
  server.on("connection", (socket) => socket.setNoDelay(true))
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(options.port ?? 0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    setScenario,
    arrived: (n) => until(n, () => true),
    ended: (n) => until(n, (request) => request.endedAt !== undefined),
    close,
    [Symbol.asyncDispose]: close
  }
}
