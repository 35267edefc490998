/** `ctx`, one live object for all handlers: what it says is what holds when it is read. */
import { makeModelView } from "./ModelView.ts"
import { assertLive, call, say, type Session, stateText, tell } from "./Session.ts"
import { makeSessionView } from "./SessionView.ts"
import { makeUi } from "./Ui.ts"
import { type Fields, fieldsOf, isCallback, listOf, messageOf, plain } from "./Values.ts"

const withoutFunctions = (options: unknown): Fields => fieldsOf(plain(fieldsOf(options)) ?? {})

/** Makes `ctx` and the richer one that command handlers get. */
export const makeContext = (session: Session): { readonly context: object; readonly commandContext: object } => {
  const { calls, missing, replica, start, wire } = session
  const live = <A>(value: () => A): A => {
    assertLive(session)
    return value()
  }
  const ui = makeUi({ wire, replica, hasUi: () => start.hasUi, missing })
  const sessionManager = makeSessionView(replica, start.cwd)
  const modelRegistry = makeModelView(replica, wire)

  const context = {
    get ui() {
      return live(() => ui)
    },
    get mode() {
      return start.mode === "text" ? "print" : start.mode
    },
    get hasUI() {
      return live(() => start.hasUi)
    },
    get cwd() {
      return start.cwd
    },
    get model() {
      return live(() => replica.get("model") ?? undefined)
    },
    get scopedModels() {
      return live(() => Object.freeze([...listOf(replica.get("scoped_models"))]))
    },
    get thinkingLevel() {
      return live(() => stateText(session, "thinking") || "off")
    },
    get sessionManager() {
      return live(() => sessionManager)
    },
    get modelRegistry() {
      return live(() => modelRegistry)
    },
    get signal() {
      return calls.current?.kind === "command" ? undefined : calls.current?.signal
    },
    isIdle: () => live(() => replica.get("idle") !== false),
    hasPendingMessages: () => live(() => replica.get("pending") === true),
    isProjectTrusted: () => live(() => start.trusted),
    abort: () => tell(session, "session.abort"),
    shutdown: () => tell(session, "session.shutdown"),
    getContextUsage: () => live(() => replica.get("usage") ?? undefined),
    getSystemPrompt: () => live(() => stateText(session, "system_prompt")),
    compact: (options?: unknown) => {
      const { onComplete, onError } = fieldsOf(options)
      call(session, "session.compact", { options: withoutFunctions(options) }).then(
        ({ result }) => isCallback(onComplete) ? onComplete(result) : undefined,
        (error: unknown) =>
          isCallback(onError) ? onError(error) : wire.send({ type: "fault", event: "ctx.compact", message: messageOf(error) })
      )
    },
    getSkillCatalog: () => ({ resolve: () => undefined, skills: listOf(replica.get("skills")) }),
    orchestrationContext: undefined,
    subagentPolicy: undefined,
    internalResourceRouter: undefined
  }

  /** A change of session: entries that `setup` adds go along; `withSession` runs when the new one is there. */
  const change = async (method: string, params: Fields, options: unknown): Promise<Fields> => {
    const { setup, withSession } = fieldsOf(options)
    const entries: Array<Fields> = []
    if (isCallback(setup)) await setup(recorder(entries))
    const { cancelled = false } = await call(session, method, { ...params, ...(entries.length === 0 ? {} : { entries }) })
    if (cancelled !== true && isCallback(withSession)) await withSession(commandContext)
    return { cancelled }
  }
  const commandContext: object = Object.create(context, Object.getOwnPropertyDescriptors({
    waitForIdle: async () => void await call(session, "session.wait_idle"),
    reload: async () => void await call(session, "session.reload"),
    getSystemPromptOptions: () => live(() => fieldsOf(replica.get("prompt_options"))),
    newSession: (options?: unknown) => change("session.new", { options: withoutFunctions(options) }, options),
    fork: (id: unknown, options?: unknown) =>
      change("session.fork", { id, position: fieldsOf(options)["position"] ?? "before" }, options),
    switchSession: (path: unknown, options?: unknown) => change("session.switch", { path }, options),
    navigateTree: (id: unknown, options?: unknown) => change("session.navigate", { id, options: withoutFunctions(options) }, options),
    sendMessage: (message: unknown, options?: unknown) =>
      say(session, "message.send", { messages: [plain(message)], options: withoutFunctions(options) }),
    sendUserMessage: async (content: unknown, options?: unknown) =>
      void await say(session, "message.user", { content: plain(content), options: withoutFunctions(options) })
  }))
  return { context, commandContext }
}

/** Stands in for the manager of a session that is not there yet, and notes what is put into it. */
const recorder = (entries: Array<Fields>) => ({
  appendMessage: (message: unknown) => void entries.push({ type: "message", message: plain(message) }),
  appendCustomEntry: (customType: unknown, data?: unknown) => void entries.push({ type: "custom", customType, data: plain(data) }),
  appendCustomMessageEntry: (customType: unknown, content: unknown, display: unknown, details?: unknown) =>
    void entries.push({ type: "custom_message", customType, content, display, details: plain(details) }),
  getEntries: () => [...entries]
})
