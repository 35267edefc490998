/** The tool calls of one answer: in groups that may run together, each with its one result, saved as it comes and told in order. */
import { Effect, Option, Ref } from "effect"
import type { RunPlace, ToolUsePart } from "@nimlet/protocol"
import { errorResult } from "@nimlet/tools"
import { groupCalls } from "../CallOrder.ts"
import { EventSink } from "../EventSink.ts"
import type { Journal, OpenCall, OpenCalls } from "../Journal.ts"
import type { Ledger } from "../Ledger.ts"
import type { ModuleEvents } from "../ModuleEvents.ts"
import { type SettledCall, toolCall, type ToolCall, type ToolRunner } from "../ToolRunner.ts"
import { isReadOnly, type ToolSet } from "../ToolSet.ts"

/** What they are run with. */
export interface CallsOptions {
  readonly events: ModuleEvents
  readonly journal: Journal
  readonly ledger: Ledger
  readonly runner: ToolRunner
}

/** How many neighbouring calls run at once. */
const parallelCalls = 8

const interruptedResult = errorResult("Interrupted")

/** Runs the calls of an answer; `open` holds those whose results nobody was told yet. */
export const makeCalls = ({ events, journal, ledger, runner }: CallsOptions) =>
  Effect.fnUntraced(function*(
    calls: ReadonlyArray<ToolUsePart>,
    tools: ToolSet,
    place: RunPlace,
    step: number,
    open: Ref.Ref<OpenCalls>
  ) {
    const { publish } = yield* EventSink
    const all: Array<SettledCall> = []
    const note = (state: OpenCall) => Ref.update(open, (known) => new Map(known).set(state.call.id, state))
    const announce = (call: ToolCall) =>
      note({ call, running: false }).pipe(
        Effect.andThen(publish({ type: "tool_call", ...place, step, tool_id: call.id, tool_name: call.name, input: call.input })),
        Effect.andThen(events.toolStarted(call)),
        Effect.uninterruptible
      )
    for (const group of groupCalls(calls, tools)) {
      const batch = group.map((part) => toolCall(part, place, step))
      yield* Effect.forEach(batch, announce, { discard: true })
      const changes = batch.some(({ name }) => !Option.exists(tools.find(name), ({ tool }) => isReadOnly(tool)))
      if (changes) yield* ledger.sync
      // Saved at once, so that nothing that is done is lost with the process; told in the order of the calls.
      const run = (call: ToolCall) =>
        Effect.uninterruptibleMask((restore) =>
          restore(runner.run(call, tools, {
            begun: note({ call, running: true }),
            left: (shown) => note({ call, running: true, shown }),
            saying: events.toolSaying(call),
            changing: (change) => journal.changing(call.id, change)
          })).pipe(
            Effect.onInterrupt(() => events.toolEnded({ call, result: interruptedResult })),
            Effect.tap(events.toolEnded),
            Effect.tap((settled) => Effect.andThen(journal.result(settled), note({ call, running: true, saved: settled })))
          ))
      const settled = yield* Effect.forEach(batch, run, { concurrency: group.length === 1 ? 1 : parallelCalls })
      const tell = (one: SettledCall) =>
        Effect.andThen(journal.tell(one), Ref.update(open, (known) => new Map([...known].filter(([id]) => id !== one.call.id))))
      yield* Effect.uninterruptible(Effect.forEach(settled, tell, { discard: true }))
      all.push(...settled)
    }
    return all
  })
