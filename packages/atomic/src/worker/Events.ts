/**
 * The events of the extension API over the host's lifecycle events: what a handler is given, and what its result means.
 * Pure: one row an event. A result by mutation is read from the event after the handler.
 */
import { type BashOperations, isBashOperations } from "./tools/Operations.ts"
import { contentText, copyOf, type Fields, fieldsOf, isFields, listOf, plain, textOf } from "./Values.ts"

/** What a handler's event is made from. */
export interface Occasion {
  /** The host's payload, as the handlers before left it. */
  readonly payload: Fields
  readonly cwd: string
  /** The host's request it comes of. */
  readonly call: { readonly signal: AbortSignal }
  /** Lives of this extension so far. */
  readonly generation: number
  /** Reads the host's state. */
  readonly state: (key: string) => unknown
}

/** What became of a handler's result. */
export interface Taken {
  readonly reply: Fields
  readonly payload?: Fields
  /** Nobody else is asked. */
  readonly stop?: boolean
  /** The host is to run the command of the event with these. */
  readonly operations?: BashOperations
}

/** One event of the API. */
export interface EventRow {
  /** The event that fires it. */
  readonly hook: string
  /** The event the handlers get; undefined when this occasion is none for them. */
  readonly event: (occasion: Occasion) => Fields | undefined
  /** What a handler did, laid over the reply so far and over the payload of the next. Default: nothing. */
  readonly took?: (event: Fields, result: unknown, payload: Fields, reply: Fields) => Taken
  /** A handler that throws decides nothing, and the host is told so. */
  readonly guards?: true
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
const cancelled = (reason: unknown): Fields => ({ allow: false, reason: textOf(reason, "cancelled by extension") })

const cancelling: EventRow["took"] = (_, result, __, reply) => {
  const { cancel, reason } = fieldsOf(result)
  return cancel === true ? { reply: { ...reply, ...cancelled(reason) }, stop: true } : { reply }
}

const partsOf = (output: unknown, images: unknown): ReadonlyArray<unknown> => [
  ...(textOf(output) === "" && listOf(images).length > 0 ? [] : [{ type: "text", text: textOf(output) }]),
  ...listOf(images).map((image) => ({ type: "image", data: fieldsOf(image)["data"], mimeType: fieldsOf(image)["mimeType"] }))
]
const imagesIn = (content: unknown): ReadonlyArray<unknown> => listOf(content).filter((part) => fieldsOf(part)["type"] === "image")

const hookImage = (image: unknown): Fields => {
  const { data, mimeType, name } = fieldsOf(image)
  return { type: "image", name: textOf(name, "image"), mime_type: mimeType, data }
}
const promptImages = (images: unknown): ReadonlyArray<Fields> =>
  listOf(images).map(fieldsOf).map(({ data, mime_type }) => ({ type: "image", data, mimeType: mime_type }))

const assistant = (payload: Fields): Fields =>
  isFields(payload["message"])
    ? payload["message"]
    : { role: "assistant", content: [{ type: "text", text: textOf(payload["text"]) }], timestamp: 0 }

const plainly = (hook: string, make: (occasion: Occasion) => Fields): EventRow => ({ hook, event: make })

const model = (name: unknown, provider: unknown, state: Occasion["state"]): Fields =>
  listOf(state("models")).map(fieldsOf).find((each) => each["id"] === name && each["provider"] === provider) ?? { id: name, provider, name }

/** What was before is known from the beginning of the session, which is heard for that alone. */
const begun: EventRow = { hook: "session_start", event: () => undefined }

/** The prompt's sections as an object a handler may edit; what it sets comes after the prompt. */
const promptOptions = (state: Occasion["state"]): Fields => {
  const known = fieldsOf(state("prompt_options"))
  return { ...known, selectedTools: listOf(state("active_tools")), sections: { ...fieldsOf(known["sections"]) } }
}

/** Event of the API → row; several may come of one lifecycle event. */
export const rows: Readonly<Record<string, EventRow | ReadonlyArray<EventRow>>> = {
  session_start: plainly("session_start", ({ generation, payload }) => ({
    reason: payload["reason"] ?? (generation > 1 ? "reload" : "startup"),
    ...("previous_session_file" in payload ? { previousSessionFile: payload["previous_session_file"] } : {})
  })),
  session_shutdown: plainly("session_shutdown", ({ payload }) => ({ reason: payload["reason"] ?? "quit" })),
  resources_discover: {
    hook: "resources_discover",
    event: ({ payload }) => ({ cwd: payload["cwd"], reason: payload["reason"] }),
    took: (_, result, __, reply) => {
      const { promptPaths, skillPaths, themePaths } = fieldsOf(result)
      return {
        reply: {
          ...reply,
          skill_paths: [...listOf(reply["skill_paths"]), ...listOf(skillPaths)],
          prompt_paths: [...listOf(reply["prompt_paths"]), ...listOf(promptPaths)],
          theme_paths: [...listOf(reply["theme_paths"]), ...listOf(themePaths)]
        }
      }
    }
  },
  session_info_changed: plainly("session_info_changed", ({ payload }) => ({ name: payload["name"] })),
  session_before_switch: {
    hook: "session_before_switch",
    event: ({ payload }) => payload["reason"] === "fork" ? undefined : { reason: payload["reason"], targetSessionFile: payload["target_session_id"] },
    took: cancelling
  },
  session_before_fork: {
    hook: "session_before_switch",
    event: ({ payload, state }) =>
      payload["reason"] === "fork"
        ? { entryId: textOf(payload["entry_id"]) || textOf(fieldsOf(listOf(state("entries")).at(-1))["id"]), position: "before" }
        : undefined,
    took: cancelling
  },
  session_before_compact: {
    hook: "session_before_compact",
    event: ({ call, payload, state }) => {
      const entries = listOf(state("entries")).map(fieldsOf)
      const at = typeof payload["first_kept_index"] === "number" ? payload["first_kept_index"] : entries.length
      const messages = entries.slice(0, at).flatMap(({ message }) => message === undefined ? [] : [message])
      return {
        reason: payload["reason"] ?? "threshold",
        parameters: { query: payload["instruction"] },
        customInstructions: textOf(payload["instruction"]) || undefined,
        preparation: {
          messagesToSummarize: messages,
          turnPrefixMessages: [],
          tokensBefore: payload["tokens_before"],
          firstKeptEntryId: entries[at]?.["id"],
          previousSummary: entries.findLast(({ type }) => type === "compaction")?.["summary"]
        },
        branchEntries: entries,
        signal: call.signal
      }
    },
    took: (event, result, payload, reply) => {
      const { cancel, compactedText, compaction } = fieldsOf(result)
      if (cancel === true) return { reply: { ...reply, ...cancelled(undefined) }, stop: true }
      const { details, firstKeptEntryId, summary } = fieldsOf(compaction)
      const words = textOf(compactedText) || textOf(summary)
      if (words.trim() === "") return { reply }
      const entries = listOf(event["branchEntries"]).map(fieldsOf)
      const kept = entries.findIndex(({ id }) => id === (firstKeptEntryId ?? fieldsOf(event["preparation"])["firstKeptEntryId"]))
      const first_kept_index = kept === -1 ? listOf(payload["entries"]).length : kept
      return { reply: { ...reply, compaction: { summary: words, first_kept_index, ...(details === undefined ? {} : { details: plain(details) }) } } }
    }
  },
  session_compact: plainly("session_compact", ({ payload }) => ({
    reason: "threshold",
    result: { summary: payload["summary"], tokensBefore: payload["tokens_before"] },
    compactionEntry: { type: "compaction", summary: payload["summary"], tokensBefore: payload["tokens_before"] },
    fromExtension: false
  })),
  session_compact_failed: plainly("session_compact_failed", ({ payload }) => ({ error: payload["error"] })),
  session_before_tree: {
    hook: "session_before_tree",
    event: ({ call, payload }) => ({ preparation: { targetId: payload["target_id"], oldLeafId: payload["old_leaf_id"] }, signal: call.signal }),
    took: cancelling
  },
  session_tree: plainly("session_tree", ({ payload }) => ({ newLeafId: payload["new_leaf_id"], oldLeafId: payload["old_leaf_id"] })),
  input: {
    hook: "input",
    event: ({ payload }) => ({
      text: payload["text"],
      images: promptImages(payload["images"]),
      source: payload["source"] ?? "interactive",
      ...("streaming" in payload ? { streamingBehavior: payload["streaming"] } : {})
    }),
    took: (_, result, payload, reply) => {
      const { action, images, text } = fieldsOf(result)
      if (action === "handled") return { reply: { ...reply, allow: false, handled: true, reason: "" }, stop: true }
      if (action !== "transform") return { reply }
      const changed = {
        ...(typeof text === "string" ? { text } : {}),
        ...(Array.isArray(images) ? { images: images.map(hookImage) } : {})
      }
      return { reply: { ...reply, ...changed }, payload: { ...payload, ...changed } }
    }
  },
  before_agent_start: {
    hook: "before_agent_start",
    event: ({ payload, state }) => ({
      prompt: payload["prompt"],
      messageType: payload["message_type"] ?? "user",
      images: promptImages(payload["images"]),
      systemPrompt: payload["system_prompt"],
      systemPromptOptions: promptOptions(state)
    }),
    took: (event, result, payload, reply) => {
      const { message, systemPrompt } = fieldsOf(result)
      const sections = Object.values(fieldsOf(fieldsOf(event["systemPromptOptions"])["sections"])).filter((each) => typeof each === "string")
      const base = typeof systemPrompt === "string" ? systemPrompt : textOf(payload["system_prompt"])
      const added = sections.filter((section) => !base.includes(section))
      const prompt = [base, ...added].join("\n\n")
      const { content, customType, details, display } = fieldsOf(message)
      return {
        reply: {
          ...reply,
          ...(prompt === payload["system_prompt"] ? {} : { system_prompt: prompt }),
          ...(isFields(message)
            ? {
              message: {
                content: [fieldsOf(reply["message"])["content"], contentText(content)].filter((text) => textOf(text) !== "").join("\n"),
                ...(typeof customType === "string" ? { custom_type: customType } : {}),
                ...(typeof display === "boolean" ? { display } : {}),
                ...(details === undefined ? {} : { details: plain(details) })
              }
            }
            : {})
        },
        payload: { ...payload, system_prompt: prompt }
      }
    }
  },
  agent_start: plainly("agent_start", () => ({})),
  agent_end: plainly("agent_end", ({ payload }) => ({ messages: payload["messages"] })),
  agent_settled: plainly("agent_settled", () => ({})),
  turn_start: plainly("step_start", ({ payload }) => ({ turnIndex: payload["step"], timestamp: payload["timestamp"] })),
  turn_end: plainly("step_end", ({ payload }) => ({
    turnIndex: payload["step"],
    message: payload["message"],
    toolResults: payload["tool_results"]
  })),
  message_start: plainly("message_start", ({ payload }) => ({ message: payload["message"] })),
  message_update: plainly("message_update", ({ payload }) => ({ message: payload["message"], assistantMessageEvent: payload["event"] })),
  message_end: [
    {
      hook: "message_end",
      event: ({ payload }) => ({ message: assistant(payload) }),
      took: (event, result, payload, reply) => {
        const { message } = fieldsOf(result)
        const changed = isFields(message) && message["role"] === "assistant" ? message : fieldsOf(event["message"])
        const text = contentText(changed["content"])
        return text === payload["text"] ? { reply } : { reply: { ...reply, text }, payload: { ...payload, text, message: changed } }
      }
    },
    { hook: "message_saved", event: ({ payload }) => fieldsOf(payload["message"])["role"] === "assistant" ? undefined : { message: payload["message"] } }
  ],
  context: {
    hook: "model_context",
    event: ({ payload }) => ({ messages: copyOf(listOf(payload["messages"])) }),
    took: (event, result, payload, reply) => {
      const { messages = event["messages"] } = fieldsOf(result)
      return same(messages, payload["messages"]) ? { reply } : { reply: { ...reply, messages }, payload: { messages } }
    }
  },
  before_provider_request: {
    hook: "before_provider_request",
    event: ({ payload }) => ({ payload: payload["payload"] }),
    took: (_, result, payload, reply) =>
      isFields(result) ? { reply: { ...reply, payload: result }, payload: { ...payload, payload: result } } : { reply }
  },
  before_provider_headers: {
    hook: "before_provider_headers",
    event: ({ payload }) => ({ headers: { ...fieldsOf(payload["headers"]) } }),
    took: (event, _, payload, reply) => {
      const before = fieldsOf(payload["headers"])
      const after = fieldsOf(event["headers"])
      const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name)).map((name) => [name, null] as const)
      const changed = Object.entries(after).filter(([name, value]) => before[name] !== value)
      if (gone.length + changed.length === 0) return { reply }
      return { reply: { ...reply, headers: { ...fieldsOf(reply["headers"]), ...Object.fromEntries([...gone, ...changed]) } }, payload: { ...payload, headers: after } }
    }
  },
  after_provider_response: plainly("after_provider_response", ({ payload }) => ({ status: payload["status"], headers: payload["headers"] })),
  tool_execution_start: plainly("tool_execution_start", ({ payload }) => ({
    toolCallId: payload["tool_call_id"],
    toolName: payload["tool"],
    args: payload["arguments"]
  })),
  tool_execution_update: plainly("tool_execution_update", ({ payload }) => ({
    toolCallId: payload["tool_call_id"],
    toolName: payload["tool"],
    args: payload["arguments"],
    partialResult: { content: partsOf(payload["output"], []), details: {} }
  })),
  tool_execution_end: plainly("tool_execution_end", ({ payload }) => ({
    toolCallId: payload["tool_call_id"],
    toolName: payload["tool"],
    result: { content: partsOf(payload["output"], []), details: payload["details"] ?? {} },
    isError: payload["is_error"]
  })),
  tool_call: {
    hook: "tool_call",
    guards: true,
    event: ({ payload }) => ({
      toolName: payload["tool"],
      toolCallId: textOf(payload["tool_call_id"]),
      input: copyOf(fieldsOf(payload["arguments"]))
    }),
    took: (event, result, payload, reply) => {
      const { block, reason, terminate } = fieldsOf(result)
      const input = fieldsOf(event["input"])
      const changed = same(input, payload["arguments"]) ? {} : { arguments: input }
      if (block !== true) return { reply: { ...reply, ...changed }, payload: { ...payload, ...changed } }
      return { reply: { allow: false, reason: textOf(reason), ...(terminate === true ? { terminate } : {}) }, stop: true }
    }
  },
  tool_result: {
    hook: "tool_result",
    event: ({ payload }) => ({
      toolName: payload["tool"],
      toolCallId: textOf(payload["tool_call_id"]),
      input: payload["arguments"],
      content: partsOf(payload["output"], payload["images"]),
      details: payload["details"],
      isError: payload["is_error"]
    }),
    took: (_, result, payload, reply) => {
      const { content, details, isError } = fieldsOf(result)
      const changed = {
        ...(content === undefined ? {} : { output: contentText(content), ...(imagesIn(content).length > 0 ? { images: imagesIn(content) } : {}) }),
        ...(isFields(details) ? { details: plain(details) } : {}),
        ...(typeof isError === "boolean" ? { is_error: isError } : {})
      }
      return { reply: { ...reply, ...changed }, payload: { ...payload, ...changed } }
    }
  },
  model_select: [
    begun,
    {
      hook: "session_settings_changed",
      event: ({ payload, state }) => {
        const before = fieldsOf(fieldsOf(state("was"))["model"])
        if (before["id"] === payload["model"] && before["provider"] === payload["provider"]) return undefined
        return { model: model(payload["model"], payload["provider"], state), previousModel: before["id"] === undefined ? undefined : before, source: "set" }
      }
    }
  ],
  thinking_level_select: [
    begun,
    {
      hook: "session_settings_changed",
      event: ({ payload, state }) =>
        fieldsOf(state("was"))["thinking"] === payload["thinking"]
          ? undefined
          : { level: payload["thinking"] || "off", previousLevel: textOf(fieldsOf(state("was"))["thinking"]) || "off" }
    }
  ],
  user_bash: {
    hook: "user_bash",
    guards: true,
    // The first answer is the answer; who comes later is not asked.
    event: ({ cwd, payload }) =>
      payload["result"] === undefined && payload["operations"] === undefined
        ? { command: payload["command"], excludeFromContext: payload["exclude_from_context"], cwd }
        : undefined,
    took: (_, result, __, reply) => {
      const { operations, result: done } = fieldsOf(result)
      if (isBashOperations(operations)) return { reply, operations, stop: true }
      return isFields(done) ? { reply: { ...reply, result: plain(done) }, stop: true } : { reply }
    }
  },
  project_trust: {
    hook: "project_trust",
    // The first yes or no is the answer; who comes later is not asked.
    event: ({ payload }) => payload["trusted"] === "undecided" ? { cwd: payload["cwd"] } : undefined,
    took: (_, result, __, reply) => {
      const { remember, trusted } = fieldsOf(result)
      if (trusted !== "yes" && trusted !== "no") return { reply }
      return { reply: { ...reply, trusted, remember: remember === true }, stop: true }
    }
  }
}

/** The rows of an event of the API. */
export const rowsOf = (event: string): ReadonlyArray<EventRow> => {
  const row = Object.hasOwn(rows, event) ? rows[event] : undefined
  return row === undefined ? [] : Array.isArray(row) ? row : [row as EventRow]
}

/** The lifecycle events to subscribe to for an event of the API; one there is not stays what it is, so that it can be told. */
export const hooksOf = (event: string): ReadonlyArray<string> => {
  const found = rowsOf(event)
  return found.length === 0 ? [event] : found.map(({ hook }) => hook)
}

/** Lifecycle event → events of the API that come of it, in the order of the table. */
const eventsByHook = Map.groupBy(
  Object.keys(rows).flatMap((event) => rowsOf(event).map((row) => [event, row] as const)),
  ([, { hook }]) => hook
)

/** The events of the API that come of a lifecycle event. */
export const eventsOf = (hook: string): ReadonlyArray<readonly [string, EventRow]> => eventsByHook.get(hook) ?? []

