/** What the extension has registered, as it stands, and as the line that tells the host. */
import { hooksOf } from "./Events.ts"
import { type Callback, type Fields, fieldsOf, isCallback, isFields, plain, textOf } from "./Values.ts"

/** A tool with its functions. */
export interface ToolDefinition {
  readonly name: string
  readonly fields: Fields
  readonly execute: Callback
}

const text = (value: unknown): value is string => typeof value === "string" && value.trim() !== ""

/** A key of a definition with what JSON loses: whether it is there, and whether it is undefined. */
const samplingOf = (fields: Fields): Fields | undefined => {
  if (!Object.hasOwn(fields, "constrainedSampling")) return undefined
  const value = fields["constrainedSampling"]
  return value === undefined ? { state: "undefined" } : { state: "set", value: plain(value) }
}

const extrasOf = (fields: Fields): Fields => {
  const { executionMode, label, maxResultSizeChars, prepareArguments, promptGuidelines, promptSnippet, structuredOutput } = fields
  const sampling = samplingOf(fields)
  return {
    ...(text(label) ? { label } : {}),
    ...(text(promptSnippet) ? { prompt_snippet: promptSnippet } : {}),
    ...(Array.isArray(promptGuidelines) ? { prompt_guidelines: promptGuidelines.filter(text) } : {}),
    ...(sampling === undefined ? {} : { constrained_sampling: sampling }),
    ...(executionMode === "sequential" ? { sequential: true } : {}),
    ...(isCallback(prepareArguments) ? { prepares: true } : {}),
    ...(structuredOutput === true ? { structured_output: true } : {}),
    ...(typeof maxResultSizeChars === "number"
      ? { max_result_chars: Number.isFinite(maxResultSizeChars) ? maxResultSizeChars : "unlimited" }
      : {})
  }
}

/** Everything one extension has registered. */
export class Registry {
  readonly tools = new Map<string, ToolDefinition>()
  readonly commands = new Map<string, { readonly description: string; readonly handler: Callback; readonly completions?: number }>()
  readonly #handlers = new Map<string, Array<Callback>>()
  readonly #flags = new Map<string, Fields>()
  readonly #shortcuts = new Map<string, Fields>()
  readonly #providers = new Map<string, Fields>()
  readonly #renderers = new Set<string>()
  readonly #handles: Array<Callback> = []
  readonly #once = new Set<number>()
  #stale = false
  #onChange: (() => void) | undefined

  /** Called when something has changed that was not known to have changed before. Not before the first `line`. */
  set onChange(act: () => void) {
    this.#onChange = act
  }

  #changed(): void {
    if (this.#stale || this.#onChange === undefined) return
    this.#stale = true
    this.#onChange()
  }

  /** Takes a tool; throws a `TypeError` that says what is wrong with it. */
  tool(definition: unknown): void {
    const fields = fieldsOf(definition)
    const { execute, name, parameters } = fields
    if (!text(name)) throw new TypeError("registerTool: a tool needs a name")
    if (!isFields(parameters)) throw new TypeError(`registerTool: the parameters of ${name} must be a schema object, as Type.Object({}) makes one`)
    if (!isCallback(execute)) throw new TypeError(`registerTool: the tool ${name} needs an execute function`)
    this.tools.set(name, { name, fields, execute })
    this.#changed()
  }

  /** Takes a command. */
  command(name: unknown, definition: unknown): void {
    const { description, getArgumentCompletions, handler } = fieldsOf(definition)
    if (!text(name)) throw new TypeError("registerCommand: a command needs a name")
    if (!isCallback(handler)) throw new TypeError(`registerCommand: the command ${name} needs a handler function`)
    const completions = isCallback(getArgumentCompletions) ? { completions: this.#handle(getArgumentCompletions) } : {}
    this.commands.set(name, { description: textOf(description), handler, ...completions })
    this.#changed()
  }

  /** Takes a shortcut; `run` is what its key calls. */
  shortcut(key: unknown, definition: unknown, run: Callback): void {
    if (!text(key)) throw new TypeError("registerShortcut: a key is needed")
    this.#shortcuts.set(key, { key, description: textOf(fieldsOf(definition)["description"]), handle: this.#handle(run) })
    this.#changed()
  }

  /** Takes a flag. */
  flag(name: unknown, definition: unknown): void {
    const { default: value, description, type } = fieldsOf(definition)
    if (!text(name)) throw new TypeError("registerFlag: a flag needs a name")
    if (type !== "boolean" && type !== "string") throw new TypeError(`registerFlag: the type of ${name} must be boolean or string`)
    if (value !== undefined && typeof value !== type) throw new TypeError(`registerFlag: the default of ${name} must be a ${type}`)
    this.#flags.set(name, { name, type, description: textOf(description), ...(value === undefined ? {} : { default: value }) })
    this.#changed()
  }

  /** A flag of this extension. */
  flagNamed(name: unknown): Fields | undefined {
    return this.#flags.get(textOf(name))
  }

  /** Takes a provider's plain configuration. */
  provider(name: unknown, config: unknown): void {
    if (!text(name)) throw new TypeError("registerProvider: the name and configuration of a provider are needed")
    this.#providers.set(name, { name, config: fieldsOf(plain(config)) })
    this.#changed()
  }

  /** Forgets a provider. */
  removeProvider(name: unknown): void {
    if (this.#providers.delete(textOf(name))) this.#changed()
  }

  /** Notes that something of this type could be drawn here. */
  renderer(type: unknown): void {
    this.#renderers.add(textOf(type))
    this.#changed()
  }

  /** Subscribes; the result ends it. */
  on(event: unknown, handler: unknown): () => void {
    if (!text(event) || !isCallback(handler)) throw new TypeError("pi.on: an event's name and a handler are needed")
    const before = this.#handlers.get(event) ?? []
    this.#handlers.set(event, [...before, handler])
    if (before.length === 0) this.#changed()
    return () => {
      const left = (this.#handlers.get(event) ?? []).filter((each) => each !== handler)
      this.#handlers.set(event, left)
      if (left.length === 0) this.#changed()
    }
  }

  /** The handlers of an event at this moment. */
  handlersOf(event: string): ReadonlyArray<Callback> {
    return this.#handlers.get(event) ?? []
  }

  /** The function behind a number. */
  handled(handle: unknown): Callback | undefined {
    if (typeof handle !== "number") return undefined
    const callback = this.#handles[handle]
    if (this.#once.delete(handle)) delete this.#handles[handle]
    return callback
  }

  /** Keeps a function that is called once at most; its number. */
  once(callback: Callback): number {
    const handle = this.#handle(callback)
    this.#once.add(handle)
    return handle
  }

  #handle(callback: Callback): number {
    return this.#handles.push(callback) - 1
  }

  /** The `register` line. */
  line(): Fields {
    this.#stale = false
    const events = [...this.#handlers].filter(([, handlers]) => handlers.length > 0).map(([event]) => event)
    return {
      type: "register",
      commands: [...this.commands].map(([name, { description }]) => ({ name, description, while_busy: true })),
      tools: [...this.tools.values()].map(({ fields, name }) => ({
        name,
        description: textOf(fields["description"]) || textOf(fields["label"]) || name,
        input_schema: plain(fields["parameters"]),
        extras: extrasOf(fields)
      })),
      events: [...new Set(events.flatMap(hooksOf))],
      extras: {
        flags: [...this.#flags.values()],
        shortcuts: [...this.#shortcuts.values()],
        completions: Object.fromEntries(
          [...this.commands].flatMap(([name, { completions }]) => completions === undefined ? [] : [[name, completions]])
        ),
        model_providers: [...this.#providers.values()],
        renderers: [...this.#renderers]
      }
    }
  }

  /** What `pi.getAllTools` says of this extension's tools, with the exact own keys of the definitions. */
  describe(name: unknown): Fields | undefined {
    const tool = this.tools.get(textOf(name))
    if (tool === undefined) return undefined
    const kept = ["name", "description", "parameters", "promptGuidelines", "constrainedSampling"].filter((key) => Object.hasOwn(tool.fields, key))
    return Object.fromEntries(kept.map((key) => [key, tool.fields[key]]))
  }
}
