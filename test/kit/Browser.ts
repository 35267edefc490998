/** A headless Chromium that shows one page and is asked about it, over its debugging pipe. It is given a profile of its own. */
import { spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Readable, Writable } from "node:stream"

/** What came from the page without being asked for. */
export interface BrowserEvent {
  readonly method: string
  readonly params: Record<string, any>
}

/** A page in a browser. `await using` ends the browser. */
export interface BrowserPage extends AsyncDisposable {
  /** Goes to an address and waits until it is loaded. */
  readonly open: (url: string) => Promise<void>
  /** The value of an expression in the page; promises are waited for. */
  readonly evaluate: (expression: string) => Promise<any>
  /** Types a text where the focus is. */
  readonly type: (text: string) => Promise<void>
  /** Presses a key by its name, as `Enter` or `/`. */
  readonly press: (key: string) => Promise<void>
  /** A command of the DevTools protocol. */
  readonly send: (method: string, params?: object) => Promise<any>
  /** Everything that happened so far: requests, log entries, exceptions, dialogs. */
  readonly events: ReadonlyArray<BrowserEvent>
}

const flags = [
  "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
  "--disable-dev-shm-usage", "--remote-debugging-pipe", "--window-size=1100,1400"
]

/** Starts a browser with one empty page. */
export const startBrowser = async (): Promise<BrowserPage> => {
  const profile = await mkdtemp(join(tmpdir(), "browser-"))
  const child = spawn("chromium", [...flags, `--user-data-dir=${profile}`, "about:blank"], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"], env: { ...process.env, HOME: profile } })
  const gone = new Promise<Error>((done) => {
    child.once("error", done)
    child.once("exit", (code) => done(new Error(`the browser ended with ${code}`)))
  })
  const [, , , requests, answers] = child.stdio as unknown as [null, null, null, Writable, Readable]
  const events: Array<BrowserEvent> = []
  const waiting = new Map<number, { readonly done: (result: any) => void; readonly failed: (error: Error) => void }>()
  const watchers = new Set<(event: BrowserEvent) => void>()
  void gone.then((error) => waiting.forEach(({ failed }) => failed(error)))
  requests.on("error", () => undefined)

  let rest = ""
  answers.setEncoding("utf8").on("data", (text: string) => {
    const messages = `${rest}${text}`.split("\0")
    rest = messages.pop() ?? ""
    for (const message of messages.map((one) => JSON.parse(one))) {
      if (message.id === undefined) {
        events.push(message)
        watchers.forEach((watch) => watch(message))
      } else if (message.error === undefined) waiting.get(message.id)?.done(message.result)
      else waiting.get(message.id)?.failed(new Error(message.error.message))
    }
  })

  let serial = 0
  let sessionId: string | undefined
  const send = (method: string, params: object = {}): Promise<any> =>
    new Promise((done, failed) => {
      const id = ++serial
      waiting.set(id, { done, failed })
      requests.write(`${JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) })}\0`)
    })
  const happens = (method: string): Promise<void> =>
    new Promise((done) => {
      const watch = (event: BrowserEvent) => {
        if (event.method !== method) return
        watchers.delete(watch)
        done()
      }
      watchers.add(watch)
    })

  const { targetInfos } = await send("Target.getTargets")
  sessionId = (await send("Target.attachToTarget", { targetId: targetInfos.find(({ type }: { readonly type: string }) => type === "page").targetId, flatten: true })).sessionId
  for (const domain of ["Page", "Network", "Runtime", "Log"]) await send(`${domain}.enable`)

  const key = (type: string, name: string) =>
    send("Input.dispatchKeyEvent", {
      type,
      key: name,
      ...(name === "Enter" ? { code: name, windowsVirtualKeyCode: 13 } : name === "Escape" ? { code: name, windowsVirtualKeyCode: 27 } : type === "keyDown" ? { text: name } : {})
    })
  return {
    send,
    events,
    open: async (url) => {
      const loaded = happens("Page.loadEventFired")
      await send("Page.navigate", { url })
      await loaded
    },
    evaluate: async (expression) => {
      const { exceptionDetails, result } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true })
      if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
      return result.value
    },
    type: (text) => send("Input.insertText", { text }),
    press: async (name) => {
      await key("keyDown", name)
      await key("keyUp", name)
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM")
      await gone
      await rm(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
    }
  }
}
