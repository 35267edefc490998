/** Speaking with the agent: a prompt and its run, what waits behind it, commands of the shell. */
import { Cause, Effect, Fiber, Stream } from "effect"
import { titleOf } from "@nimlet/session"
import type { Command } from "../Command.ts"
import { accountText, typedFor } from "../ShellAccount.ts"
import type { Words } from "../State.ts"
import type { Company, ErrandRoom } from "./ErrandRoom.ts"
import type { Standing } from "./Standing.ts"

/** The errands of talking. */
export const makeTalk = ({ company, present, show, tell }: ErrandRoom, { standing }: Standing) => {
  let running: Fiber.Fiber<void> | undefined
  const besides = new Set<Fiber.Fiber<void>>()

  const watchQueue = Effect.fnUntraced(function*({ agent }: Company) {
    const changes = yield* agent.queueChanges
    yield* Stream.runForEach(changes, () =>
      Effect.flatMap(agent.queued, ({ followUp, steering }) =>
        show({ type: "waiting", waiting: { steering: steering.map(({ content }) => content), followUp: followUp.map(({ content }) => content) } })))
  })

  /** Takes back what waits, as one text. */
  const takeBack = Effect.fnUntraced(function*({ agent }: Company) {
    const { followUp, steering } = yield* agent.clearQueued
    yield* show({ type: "waiting", waiting: { steering: [], followUp: [] } })
    return [...steering, ...followUp].filter(({ extension }) => extension === undefined).map(({ content }) => content).join("\n\n")
  })

  /** The same, into the composer at once. */
  const giveBack = Effect.suspend(() => {
    const given = present()
    return given === undefined ? show({ type: "returned", text: "" }) : Effect.flatMap(takeBack(given), (text) => show({ type: "returned", text }))
  })

  const say = Effect.fnUntraced(function*({ literal, pictures = [], saved = false, text }: Words) {
    let editorText = ""
    let back = ""
    yield* Effect.gen(function*() {
      const given = yield* company
      const attached = pictures.map(({ data, mimeType }) => ({ type: "image", mimeType, data }) as const)
      const result = yield* Effect.raceFirst(given.within(given.agent.prompt({ typed: text, literal, saved, attached })), Effect.andThen(watchQueue(given), Effect.never)).pipe(
        Effect.ensuring(Effect.flatMap(takeBack(given), (left) => Effect.sync(() => (back = left))))
      )
      editorText = result.editorText === undefined ? result.nextCommand ?? "" : typedFor(result.editorText)
      const title = titleOf(yield* (yield* given.agent.session).entries)
      yield* show({ type: "titled", title })
      yield* standing(given)
      // A session of its own has extensions of its own; what they offer is known at once, not with the next look.
      yield* show({ type: "figures", figures: yield* given.extensions.figures })
    }).pipe(
      Effect.catchCause((cause) => Cause.hasInterruptsOnly(cause) ? Effect.void : tell(Cause.pretty(cause), "error")),
      Effect.ensuring(Effect.suspend(() => show({ type: "ended", back, editorText })))
    )
  })

  const queue = Effect.fnUntraced(function*(as: "steer" | "followUp", text: string) {
    const { agent } = yield* company
    const offer = yield* as === "steer" ? agent.steer(text) : agent.followUp(text)
    if (offer === "accepted") return
    if (offer === "idle") return yield* show({ type: "said", words: { text, literal: false } })
    yield* tell("Too many messages wait already; this one was not queued.", "warning")
    yield* show({ type: "returned", text })
  })

  /** Runs a command beside the turn; one that may not run so after all goes back to the person. */
  const aside = (text: string) =>
    Effect.flatMap(company, ({ agent, within }) =>
      Effect.flatMap(within(agent.aside(text)), (run) => {
        if (run === undefined) return show({ type: "said", words: { text, literal: false } })
        return within(run).pipe(
          Effect.flatMap((message) => message === "" ? Effect.void : tell(message)),
          Effect.catch(({ message }) => tell(message, "error"))
        )
      })).pipe(
      Effect.onInterrupt(() => tell(`${text}: interrupted`, "warning")),
      (whole) => Effect.acquireUseRelease(show({ type: "aside", text, over: false }), () => whole, () => show({ type: "aside", text, over: true }))
    )

  const shell = Effect.fnUntraced(function*({ command, id, share }: Extract<Command, { readonly type: "shell" }>) {
    let output = ""
    const told = (code: number | undefined) => show({ type: "shell", id, output, code })
    const grow = (delta: string) => Effect.suspend(() => {
      output = `${output}${delta}`.slice(-64 * 1024)
      return told(undefined)
    })
    const broken = Effect.suspend(() => show({ type: "shell", id, output: `${output}\ninterrupted`, code: 130 }))
    const given = yield* company
    const wish = yield* given.agent.userBash(command, !share)
    if (wish._tag !== "Run") {
      let code = 1
      if (wish._tag === "Elsewhere") {
        code = yield* wish.run(grow).pipe(
          Effect.catch(({ message }) => Effect.as(grow(`${output === "" || output.endsWith("\n") ? "" : "\n"}${message}`), 1)),
          Effect.onInterrupt(() => broken)
        )
      } else if (wish._tag === "Done") [output, code] = [wish.output, wish.code]
      else output = `Refused: ${wish.reason}`
      yield* told(code)
      return share ? accountText({ command, output, code: String(code) }) : ""
    }
    const run = given.shell?.run({ command }, { output: grow })
    const result = run === undefined ? undefined : yield* Effect.onInterrupt(run, () => broken)
    const text = result === undefined ? "There is no shell." : result.content.flatMap((part) => part.type === "text" ? [part.text] : []).join("\n")
    yield* show({ type: "shell", id, output: output === "" ? text : output, code: result?.isError === false ? 0 : 1 })
    if (!share) return ""
    const [, code = "1", printed = text] = /^exit_code: (\d+)\nduration_ms: \d+\n\n(?:stdout:\n)?([\s\S]*)$/.exec(text) ?? []
    return accountText({ command, output: printed, code })
  })

  const runShell = (command: Extract<Command, { readonly type: "shell" }>) => {
    let words = ""
    return Effect.flatMap(shell(command), (text) => Effect.sync(() => (words = text))).pipe(
      Effect.ensuring(Effect.suspend(() => Effect.andThen(show({ type: "ended", back: "", editorText: "" }), words === "" ? Effect.void : show({ type: "said", words: { text: words, literal: true } }))))
    )
  }

  /** Runs beside it what an interrupt is for, too. */
  const interruptibleBeside = (effect: Effect.Effect<void>) =>
    Effect.flatMap(Effect.forkChild(effect, { startImmediately: true }), (fiber) => {
      besides.add(fiber)
      fiber.addObserver(() => void besides.delete(fiber))
      return Fiber.await(fiber)
    })

  /** Runs what the person may interrupt. */
  const interruptible = (effect: Effect.Effect<void>) =>
    Effect.flatMap(Effect.forkChild(effect, { startImmediately: true }), (fiber) => {
      running = fiber
      return Fiber.await(fiber)
    })

  return {
    prompt: (words: Words) => interruptible(say(words)),
    shell: (command: Extract<Command, { readonly type: "shell" }>) => interruptible(Effect.asVoid(runShell(command))),
    interrupt: Effect.andThen(giveBack, Effect.suspend(() => Fiber.interruptAll([...besides, ...(running === undefined ? [] : [running])]))),
    aside: (text: string) => interruptibleBeside(aside(text)),
    queue,
    giveBack
  }
}
