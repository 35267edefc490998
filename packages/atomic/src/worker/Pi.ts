/** `pi`, what the factory of an extension is given. */
import { assertLive, call, say, type Session, stateText, tell } from "./Session.ts"
import { type Callback, type Fields, fieldsOf, isCallback, isFields, listOf, plain, textOf } from "./Values.ts"

const withoutFunctions = (options: unknown): Fields => fieldsOf(plain(fieldsOf(options)) ?? {})

/** Makes `pi`. `context` is what shortcuts get. */
export const makePi = (session: Session, context: object): object => {
  const { bus, missing, registry, replica } = session
  const guarded = <A>(act: () => A): A => {
    assertLive(session)
    return act()
  }
  const later = (what: string) => (): void => missing(what)
  const knownTools = (): ReadonlyArray<Fields> => listOf(replica.get("tools")).map(fieldsOf)
  /** Names of own tools that the host's list has not yet. */
  const fresh = (): ReadonlyArray<string> => {
    const names = new Set(knownTools().map(({ name }) => name))
    return [...registry.tools.keys()].filter((name) => !names.has(name))
  }
  /** The host's list, with this extension's own as they were defined. */
  const tools = (): ReadonlyArray<Fields> =>
    [...knownTools(), ...fresh().map((name): Fields => ({ name }))].map((tool) => ({ ...tool, ...registry.describe(tool["name"]) }))
  const activeTools = (): ReadonlyArray<string> => [...listOf(replica.get("active_tools")).map((name) => textOf(name)), ...fresh()]
  const send = async (messages: ReadonlyArray<unknown>, options: unknown): Promise<unknown> =>
    await say(session, "message.send", { messages: messages.map(plain), options: withoutFunctions(options) })
  const remember = (entry: Fields): void => {
    // Read again at once, it is there; the host's own entry takes its place with the next change.
    replica.set("entries", [...listOf(replica.get("entries")), entry])
  }

  return {
    on: (event: unknown, handler: unknown) => guarded(() => registry.on(event, handler)),
    registerTool: (definition: unknown) => guarded(() => registry.tool(definition)),
    registerCommand: (name: unknown, definition: unknown) => guarded(() => registry.command(name, definition)),
    registerShortcut: (key: unknown, definition: unknown) =>
      guarded(() => {
        const { handler } = fieldsOf(definition)
        if (!isCallback(handler)) throw new TypeError("registerShortcut: a handler function is needed")
        const run: Callback = () => handler(context)
        registry.shortcut(key, definition, run)
      }),
    registerFlag: (name: unknown, definition: unknown) => guarded(() => registry.flag(name, definition)),
    getFlag: (name: unknown) =>
      guarded(() => {
        const flag = registry.flagNamed(name)
        if (flag === undefined) return undefined
        const given = fieldsOf(replica.get("flags"))[textOf(name)]
        // The command line has a text behind it or nothing; what that means is the flag's own to say.
        if (flag["type"] === "boolean" && given !== undefined) return given !== "false"
        return typeof given === flag["type"] ? given : flag["default"]
      }),
    registerMessageRenderer: (type: unknown) => guarded(() => registry.renderer(type)),
    registerEntryRenderer: (type: unknown) => guarded(() => registry.renderer(type)),
    registerToolRenderer: (name: unknown) => guarded(() => registry.renderer(name)),
    registerMarkdownTransformer: later("registerMarkdownTransformer"),
    sendMessage: (message: unknown, options?: unknown) => {
      const sent = send([message], options)
      // Old code does not wait for it; a failure that nobody takes must not end the worker.
      sent.catch(() => undefined)
      return sent
    },
    sendMessages: (messages: unknown, options?: unknown) => send(listOf(messages), options),
    sendUserMessage: (content: unknown, options?: unknown) => {
      const { deliverAs } = fieldsOf(options)
      if (deliverAs === undefined && replica.get("idle") === false) {
        throw new Error("the agent is busy: sendUserMessage needs deliverAs \"steer\" or \"followUp\"")
      }
      void say(session, "message.user", { content: plain(content), options: withoutFunctions(options) })
    },
    appendEntry: (customType: unknown, data?: unknown) => {
      if (typeof customType !== "string" || customType === "") throw new TypeError("appendEntry: a type is needed")
      tell(session, "entry.append", { custom_type: customType, data: plain(data) ?? null })
      remember({ type: "custom", id: `local-${listOf(replica.get("entries")).length}`, customType, data, timestamp: new Date().toISOString() })
    },
    setSessionName: (name: unknown) => {
      tell(session, "session.set_name", { name: textOf(name) })
      replica.set("session", { ...fieldsOf(replica.get("session")), name: textOf(name).trim() })
    },
    getSessionName: () => guarded(() => textOf(fieldsOf(replica.get("session"))["name"]) || undefined),
    setLabel: (id: unknown, label?: unknown) => {
      tell(session, "entry.label", { id, label: label ?? null })
      replica.set("labels", { ...fieldsOf(replica.get("labels")), [textOf(id)]: label })
    },
    exec: async (command: unknown, args?: unknown, options?: unknown) => {
      const { cwd, maxBuffer, signal, timeout } = fieldsOf(options)
      const reply = await call(session, "exec", {
        command: textOf(command),
        args: listOf(args).map(String),
        ...(typeof cwd === "string" ? { cwd } : {}),
        ...(typeof timeout === "number" ? { timeout } : {}),
        ...(typeof maxBuffer === "number" ? { max_buffer: maxBuffer } : {})
      }, signal instanceof AbortSignal ? signal : undefined)
      return reply["cancelled"] === true ? { stdout: "", stderr: "", code: 130, killed: true, truncated: false } : reply
    },
    getActiveTools: () => guarded(activeTools),
    getAllTools: () => guarded(tools),
    setActiveTools: (names: unknown) => {
      const known = new Set(tools().map(({ name }) => name))
      const wanted = listOf(names).filter((name) => known.has(name))
      tell(session, "tools.set_active", { names: wanted })
      replica.set("active_tools", wanted)
    },
    getCommands: () => guarded(() => listOf(replica.get("commands"))),
    setModel: async (model: unknown) => {
      const { id, provider } = fieldsOf(model)
      return (await call(session, "model.set", { provider, id }))["ok"] === true
    },
    getThinkingLevel: () => guarded(() => stateText(session, "thinking") || "off"),
    setThinkingLevel: (level: unknown) => {
      tell(session, "model.thinking", { level: textOf(level) })
      replica.set("thinking", textOf(level))
    },
    registerProvider: (name: unknown, config?: unknown) =>
      guarded(() => {
        if (isFields(name)) return missing("registerProvider with a Provider object")
        if (isCallback(fieldsOf(config)["streamSimple"])) missing("streamSimple of registerProvider")
        registry.provider(name, config)
      }),
    unregisterProvider: (name: unknown) => guarded(() => registry.removeProvider(name)),
    getSettings: () => ({}),
    registerMcpServer: later("registerMcpServer"),
    unregisterMcpServer: later("unregisterMcpServer"),
    getMcpServers: () => [],
    registerVirtualModel: later("registerVirtualModel"),
    unregisterVirtualModel: later("unregisterVirtualModel"),
    getWorkflowResources: () => [],
    refreshWorkflowResources: async () => undefined,
    getResourceLoaderInheritanceSnapshot: () => ({}),
    events: bus
  }
}
