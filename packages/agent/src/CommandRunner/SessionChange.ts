/** How a command changes the session: its run ends with the session that it began in. */
import { Effect } from "effect"
import type { SwitchRefused } from "../AgentError.ts"
import type { Destination, Switching, Target } from "../Switching.ts"
import type { Outcome, Voice } from "./Voice.ts"

/** Changes the session for commands. */
export interface SessionChange {
  /** `answer` is run when it is sure that the session will be left, and before it is. */
  readonly go: (voice: Voice, target: Target, answer: (destination: Destination) => Effect.Effect<unknown>) => Effect.Effect<Destination, SwitchRefused>
  /** The same, and says where it went or why not. */
  readonly goAndSay: (voice: Voice, target: Target) => Effect.Effect<Outcome>
}

/** What is said of a session that is entered. */
export const entered = (kind: Target["kind"], { session, title }: Destination): string => {
  const named = `${session.id}${title === "" ? "" : ` (${title})`}`
  return kind === "new" ? `New session ${named}.` : kind === "resume" ? `Resumed session ${named}.` : `Forked into session ${named}.`
}

/** Changes by `switching`. */
export const makeSessionChange = (switching: Switching): SessionChange => {
  const go: SessionChange["go"] = (voice, target, answer) =>
    switching.go(target, (destination) => Effect.andThen(answer(destination), voice.end))

  const goAndSay = Effect.fnUntraced(function*(voice: Voice, target: Target) {
    const { text, ...destination } = yield* go(voice, target, (there) => voice.tell(entered(target.kind, there)))
    const done: Outcome = { success: true, text: entered(target.kind, { ...destination, text }) }
    return text === "" ? done : { ...done, editorText: text }
  }, (effect, voice) => Effect.catch(effect, (error: SwitchRefused) => voice.fail(error.message)))

  return { go, goAndSay }
}
