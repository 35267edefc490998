/** One extension's session as its API sees it: everything behind `pi` and `ctx` in one place. */
import type { Boot } from "./Boot.ts"
import type { Bus } from "./Bus.ts"
import type { Calls } from "./Calls.ts"
import type { Registry } from "./Registry.ts"
import type { Replica } from "./Replica.ts"
import { type Fields, fieldsOf, messageOf, textOf } from "./Values.ts"
import type { Wire } from "./Wire.ts"

/** The parts. */
export interface Session {
  readonly boot: Boot
  readonly wire: Wire
  readonly replica: Replica
  readonly calls: Calls
  readonly registry: Registry
  readonly bus: Bus
  /** From the host's first line. */
  readonly start: { readonly cwd: string; readonly mode: string; readonly hasUi: boolean; readonly trusted: boolean }
  /** What it has said to the model and the host has not taken yet; a command is over when it has. */
  readonly saying: Set<Promise<unknown>>
  /** The session this API belonged to is over. */
  readonly isOver: () => boolean
  /** Says once that something of the API is not there. */
  readonly missing: (what: string) => void
}

/** Throws when the session is over: what an extension has kept of it is of no use any more. */
export const assertLive = ({ boot, isOver }: Session): void => {
  if (isOver()) throw new Error(`extension ctx is stale: '${boot.name}' was reloaded or its session is over; use the ctx of the present one`)
}

/** Tells the host something; the outcome is not waited for. */
export const tell = (session: Session, method: string, params: Fields = {}): void => {
  assertLive(session)
  session.wire.send({ type: "tell", method, params })
}

/** Asks the host; fails with what it says. */
export const call = async (session: Session, method: string, params: Fields = {}, signal?: AbortSignal): Promise<Fields> => {
  assertLive(session)
  const reply = await session.wire.ask({ type: "host_request", method, params }, signal)
  if (typeof reply["error"] === "string") throw new Error(reply["error"])
  return reply["cancelled"] === true ? { cancelled: true } : fieldsOf(reply["result"])
}

/** Says something to the model: as `call`, and a command that ends waits for it. A failure is told of where nobody waits for it. */
export const say = (session: Session, method: "message.send" | "message.user", params: Fields): Promise<Fields> => {
  const saying = call(session, method, params)
  session.saying.add(saying)
  const over = (): void => void session.saying.delete(saying)
  saying.then(over, (error: unknown) => {
    over()
    session.wire.send({ type: "fault", event: method, message: messageOf(error) })
  })
  return saying
}

/** A text of the host's state. */
export const stateText = ({ replica }: Session, key: string): string => textOf(replica.get(key))
