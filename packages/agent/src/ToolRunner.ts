/**
 * One tool call, from what the model asked to the result it will read. The order is the whole policy: the tool may put the
 * arguments right, they are checked, extensions may change or block the call, what they left is checked again, permission is asked for what will
 * really run, the tool runs, extensions may change the result. Every path ends in exactly one result.
 */
import { Cause, Clock, Effect, Option, Result } from "effect"
import { type HookOptions, Hooks } from "@nimlet/extension"
import { type JsonObject, type RunPlace, textOf, type ToolUsePart } from "@nimlet/protocol"
import { errorResult, Output, type ToolContext, type ToolResult } from "@nimlet/tools"
import { argumentsOf, makeValidator, unreadable, type Validator } from "./Arguments.ts"
import { EventSink } from "./EventSink.ts"
import type { Permissions } from "./Permissions.ts"
import { isHooked, type OfferedTool, type ToolSet } from "./ToolSet.ts"

/** A call as the model made it, and where in the run. */
export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly input: unknown
  /** Why `input` cannot be read; such a call never runs. */
  readonly parseError?: string
  readonly place: RunPlace
  readonly step: number
}

/**
 * A result and how long the call took, hooks and questions included; `hooks_ms` is the hooks' part of that. `changedBy` are
 * the extensions that changed what was run.
 */
export interface SettledCall {
  readonly call: ToolCall
  readonly result: ToolResult
  readonly duration_ms: number
  readonly hooks_ms: number
  readonly changedBy?: ReadonlyArray<string>
}

/** A call of an answer, to run. */
export const toolCall = ({ id, input, name, parse_error }: ToolUsePart, place: RunPlace, step: number): ToolCall =>
  ({ id, name, input, place, step, ...(parse_error === undefined ? {} : { parseError: parse_error }) })

/** Told of a call under way: `begun` right before the tool itself runs, `left` what an interrupted one had to show, `changing` of files. */
export interface CallWatch {
  readonly begun: Effect.Effect<void>
  readonly left: (result: ToolResult) => Effect.Effect<void>
  /** Takes what the tool says while it runs. */
  readonly saying?: ((delta: string) => Effect.Effect<void>) | undefined
  readonly changing?: NonNullable<ToolContext["changing"]>
}

/** Runs calls. It never fails: what goes wrong is a result that the model reads. `options` are those of the call's hooks. */
export interface ToolRunner {
  readonly run: (call: ToolCall, tools: ToolSet, watch?: CallWatch, options?: HookOptions) => Effect.Effect<SettledCall>
}

const denied = (reason: string): ToolResult => errorResult(`approval_denied: ${reason}`)

/** What an extension made of an output, within the limits of any; one that was larger by right may stay as large. */
const boundedOutput = (output: string, before: string): string =>
  output === before ? output : Output.boundMiddle(output, {
    maxBytes: Math.max(Output.modelLimits.maxBytes, Buffer.byteLength(before)),
    maxLines: Math.max(Output.modelLimits.maxLines, before.split("\n").length)
  }).text

/** What a call's settling tells beside its result. */
interface Notes {
  changedBy?: ReadonlyArray<string>
  hooks_ms: number
  /** How long it waited to be permitted: that is the person's time, and no part of the call's. */
  asked_ms: number
}

/** The runner of a session. */
export const makeToolRunner = (permissions: Permissions): Effect.Effect<ToolRunner, never, Hooks> =>
  Effect.gen(function*() {
    const hooks = yield* Hooks
    const validators = new WeakMap<JsonObject, Validator>()

    const timed = <A, E, R>(notes: Notes, what: "hooks_ms" | "asked_ms", effect: Effect.Effect<A, E, R>) =>
      Effect.flatMap(Clock.currentTimeMillis, (started) =>
        Effect.tap(effect, () => Effect.map(Clock.currentTimeMillis, (now) => void (notes[what] += now - started))))

    const faultsOf = Effect.fnUntraced(function*(offered: OfferedTool, args: JsonObject) {
      const schema = offered.tool.inputSchema
      const validator = validators.get(schema) ?? (yield* makeValidator(schema))
      validators.set(schema, validator)
      return validator(args)
    })

    const refuse = (name: string, faults: ReadonlyArray<string>): ToolResult =>
      errorResult(`Invalid arguments for ${name}:\n${faults.join("\n")}`)

    const execute = (call: ToolCall, offered: OfferedTool, args: JsonObject, watch: CallWatch | undefined) =>
      Effect.flatMap(EventSink, ({ publish }) =>
        offered.tool.run(args, {
          callId: call.id,
          ...(watch === undefined ? {} : { interrupted: watch.left, ...(watch.changing === undefined ? {} : { changing: watch.changing }) }),
          output: (delta, details) => {
            const published = publish({
              type: "tool_output_delta",
              ...call.place,
              step: call.step,
              tool_id: call.id,
              tool_name: call.name,
              delta,
              ...(details === undefined ? {} : { details })
            })
            return watch?.saying === undefined ? published : Effect.andThen(published, watch.saying(delta))
          }
        })).pipe(Effect.catchDefect((defect) => Effect.succeed(errorResult(Cause.pretty(Cause.die(defect))))))

    const afterwards = Effect.fnUntraced(function*({ id, name }: ToolCall, sent: JsonObject, used: JsonObject, result: ToolResult, options?: HookOptions) {
      if (!hooks.subscribed("tool_result", options)) return result
      const output = textOf(result.content)
      const images = result.content.filter((part) => part.type === "image")
      const told = {
        tool: name,
        arguments: used,
        ...(used === sent ? {} : { original_arguments: sent }),
        output,
        is_error: result.isError,
        tool_call_id: id,
        ...(result.details === undefined ? {} : { details: result.details }),
        ...(images.length === 0 ? {} : { images })
      }
      const { payload } = yield* hooks.run("tool_result", told, options)
      const same = payload.output === output && payload.images === told.images
      if (same && payload.is_error === result.isError && payload.details === told.details) return result
      const content = same
        ? result.content
        : [...(payload.output === "" ? [] : [{ type: "text" as const, text: boundedOutput(payload.output, output) }]), ...payload.images ?? []]
      return { ...result, content, isError: payload.is_error, ...(payload.details === undefined ? {} : { details: payload.details }) }
    })

    const settle = Effect.fnUntraced(function*(call: ToolCall, tools: ToolSet, watch: CallWatch | undefined, notes: Notes, options?: HookOptions) {
      const found = tools.find(call.name)
      if (Option.isNone(found)) return errorResult(tools.whyNot(call.name))
      const offered = found.value
      // No text at all means no arguments, whatever a provider makes of it.
      if (call.parseError !== undefined && call.input !== "") return errorResult(unreadable(call.input, call.parseError))
      const prepared = offered.prepare === undefined ? Result.succeed(call.input) : yield* Effect.result(offered.prepare(call.input))
      if (Result.isFailure(prepared)) return errorResult(prepared.failure.message)
      const parsed = argumentsOf(prepared.success)
      if (Result.isFailure(parsed)) return errorResult(parsed.failure)
      const sent = parsed.success
      const faults = yield* faultsOf(offered, sent)
      if (faults.length > 0) return refuse(call.name, faults)
      const begun = watch?.begun ?? Effect.void
      if (!isHooked(offered)) return yield* Effect.andThen(begun, execute(call, offered, sent, watch))

      const gate = yield* timed(notes, "hooks_ms", hooks.run("tool_call", { tool: call.name, arguments: sent, tool_call_id: call.id }, options))
      if (gate._tag === "Blocked") return gate.terminate === true ? { ...denied(gate.reason), terminate: true } : denied(gate.reason)
      const changed = gate.changedBy.length > 0
      const args = changed ? gate.payload.arguments : sent
      if (changed) {
        const left = yield* faultsOf(offered, args)
        if (left.length > 0) return refuse(`${call.name}, changed by ${gate.changedBy.join(", ")}`, left)
      }

      const denial = yield* timed(notes, "asked_ms", permissions.check(offered, args))
      if (Option.isSome(denial)) return denied(denial.value)

      if (changed) notes.changedBy = gate.changedBy
      yield* begun
      const result = yield* execute(call, offered, args, watch)
      return yield* timed(notes, "hooks_ms", afterwards(call, sent, args, result, options))
    })

    return {
      run: Effect.fnUntraced(function*(call, tools, watch, options) {
        const started = yield* Clock.currentTimeMillis
        const notes: Notes = { hooks_ms: 0, asked_ms: 0 }
        const result = yield* settle(call, tools, watch, notes, options)
        const { asked_ms, ...told } = notes
        return { call, result, duration_ms: (yield* Clock.currentTimeMillis) - started - asked_ms, ...told }
      })
    }
  })
