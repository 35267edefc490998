/** The page of a session in a real browser: exported by the program, read, searched, and with a hostile session in it. */
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { describe, expect, it } from "vitest"
import { type BrowserPage, startBrowser } from "../kit/Browser.ts"
import { makeWorkspace, type Workspace } from "../kit/Workspace.ts"

const start = Date.parse("2026-11-30T14:00:00Z")
const at = (seconds: number) => new Date(start + seconds * 1000).toISOString()

/** Exports a session of these entries and gives the page's address. */
const exported = async (space: Workspace, entries: ReadonlyArray<object>): Promise<string> => {
  const folder = join(space.home, ".nimlet/sessions")
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, "s1.jsonl"), [{ type: "session", version: 1, id: "s1", workspace: space.work, at: at(0) }, ...entries].map((line) => `${JSON.stringify(line)}\n`).join(""))
  const run = await space.nimlet(["sessions", "export", "s1", "page.html"])
  expect([run.code, run.stderr]).toEqual([0, ""])
  return pathToFileURL(join(space.work, "page.html")).href
}

const session = [
  { type: "user", role: "user", content: [{ type: "text", text: "Mend the lamp" }], at: at(0) },
  {
    type: "assistant", role: "assistant", model: "m", usage: { input_tokens: 1200, output_tokens: 34 }, duration_ms: 2000, at: at(2),
    content: [{ type: "thinking", thinking: "a hidden thought about towers", signature: "" }, { type: "text", text: "I edit it." }, { type: "tool_use", id: "a", name: "edit", input: { path: "lamp.ts" } }]
  },
  { type: "tool_result", id: "a", tool: "edit", output: "OK, the beacon output", is_error: false, duration_ms: 500, hooks_ms: 100, at: at(3), details: { diff: "--- a/lamp.ts\n+++ b/lamp.ts\n@@ -1 +1 @@\n-dark\n+bright beacon\n" } },
  { type: "assistant", role: "assistant", model: "m", content: [{ type: "text", text: "Done, the **lamp** shines." }], duration_ms: 900, at: at(4) },
  { type: "user", role: "user", content: [{ type: "text", text: "Thanks" }], at: at(60) }
]

const hostileTexts = (port: string) => [
  "<script>window.pwned = 1; alert(1)</script>", "</pre></details></article></section></main><script>window.pwned = 2</script>", `<img src="${port}/img" onerror="window.pwned = 3">`,
  `"><svg onload="window.pwned = 4">`, `' onmouseover='window.pwned = 5' x='`, `<link rel=stylesheet href="${port}/css">`, `<iframe src="${port}/frame"></iframe>`, `</script><script>window.pwned = 6</script>`,
  `</style><style>@import url(${port}/import);</style>`, `<meta http-equiv="refresh" content="0;url=${port}/refresh">`, `<base href="${port}/">`, "<!--", "javascript:window.pwned=7",
  `<form action="${port}/form"><button autofocus onfocus="window.pwned=8">`, `<details open ontoggle="window.pwned = 9">`, `</title><script>window.pwned = 10</script>`, `</textarea></template></noscript><body onload=window.pwned=11>`
]

/** Requests other than that for the page itself, what the page's policy refused, exceptions, dialogs. */
const strayOf = ({ events }: BrowserPage, url: string): ReadonlyArray<string> =>
  events.flatMap(({ method, params }) => {
    if (method === "Network.requestWillBeSent") return params["request"].url === url || params["request"].url.startsWith("data:image/") ? [] : [`request ${params["request"].url}`]
    if (method === "Log.entryAdded") return [`log ${params["entry"].text}`]
    return ["Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Page.javascriptDialogOpening", "Page.frameAttached"].includes(method) ? [method] : []
  })

const visible = (text: string) => `[...document.querySelectorAll("pre, p, li, b, summary")].some((one) => one.textContent.includes(${JSON.stringify(text)}) && one.checkVisibility())`
const shownArticles = `[...document.querySelectorAll("article")].filter((one) => one.checkVisibility()).length`
const searched = `new Promise((done) => {
  const look = () => document.querySelector("output").textContent === "" ? requestAnimationFrame(look) : done()
  look()
})`

describe("an exported page in a browser", () => {
  it("folds thinking, diffs and output, opens them, finds words in them, and asks for nothing else", async () => {
    await using space = await makeWorkspace()
    const url = await exported(space, session)
    await using page = await startBrowser()
    await page.open(url)
    expect(await page.evaluate("document.title")).toBe("Mend the lamp")
    for (const folded of ["a hidden thought", "bright beacon", "the beacon output"]) expect([folded, await page.evaluate(visible(folded))]).toEqual([folded, false])
    for (const shown of ["I edit it.", "Done, the lamp shines."]) expect([shown, await page.evaluate(visible(shown))]).toEqual([shown, true])
    await page.evaluate(`document.querySelector("details.call summary").click()`)
    expect(await page.evaluate(visible("bright beacon"))).toBe(true)
    await page.evaluate(`document.querySelector("details.call summary").click()`)

    // The bars of the timeline are there, and each leads to its step.
    expect(await page.evaluate(`[...document.querySelectorAll("svg rect")].map((bar) => bar.getAttribute("class")).join()`)).toBe("model,model,tool,hook")
    expect(await page.evaluate(`[...document.querySelectorAll("svg a")].every((link) => document.querySelector(link.getAttribute("href")) !== null)`)).toBe(true)

    // "/" goes to the search; what it finds is opened, what has none of it is hidden.
    await page.press("/")
    expect(await page.evaluate("document.activeElement.type")).toBe("search")
    await page.type("Beacon")
    await page.evaluate(searched)
    expect(await page.evaluate(shownArticles)).toBe(1)
    expect([await page.evaluate(visible("bright beacon")), await page.evaluate(visible("a hidden thought"))]).toEqual([true, false])
    expect(await page.evaluate(`document.querySelector("output").textContent`)).toBe("2")
    await page.press("Enter")
    expect(await page.evaluate(`[document.querySelector("output").textContent, getSelection().toString()].join()`)).toBe("1 / 2,beacon")
    await page.press("Escape")
    expect([await page.evaluate(shownArticles), await page.evaluate(visible("bright beacon"))]).toEqual([4, false])
    expect(strayOf(page, url)).toEqual([])
  })

  it("is light or dark as the reader's system is, until told otherwise", async () => {
    await using space = await makeWorkspace()
    const url = await exported(space, session)
    await using page = await startBrowser()
    const brightness = `getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0)`
    await page.open(url)
    expect(await page.evaluate(brightness)).toBeGreaterThan(700)
    await page.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: "dark" }] })
    expect(await page.evaluate(brightness)).toBeLessThan(100)
    await page.evaluate(`document.querySelector(".theme").click()`)
    expect(await page.evaluate(brightness)).toBeGreaterThan(700)
    expect(strayOf(page, url)).toEqual([])
  })

  it("can be read without scripts", async () => {
    await using space = await makeWorkspace()
    const url = await exported(space, session)
    await using page = await startBrowser()
    await page.send("Emulation.setScriptExecutionDisabled", { value: true })
    await page.open(url)
    expect([await page.evaluate(visible("Done, the lamp shines.")), await page.evaluate(`document.querySelector("input").checkVisibility()`)]).toEqual([true, false])
    const { model } = await page.send("DOM.getBoxModel", { objectId: (await page.send("Runtime.evaluate", { expression: `document.querySelector("details.call > summary")` })).result.objectId })
    const [x, y] = model.content
    for (const type of ["mousePressed", "mouseReleased"]) await page.send("Input.dispatchMouseEvent", { type, x: x + 20, y: y + 5, button: "left", clickCount: 1 })
    expect(await page.evaluate(visible("bright beacon"))).toBe(true)
    expect(strayOf(page, url)).toEqual([])
  })

  it("runs and loads nothing of what a session says, in any of its places", async () => {
    await using space = await makeWorkspace()
    const texts = hostileTexts("http://127.0.0.1:9")
    const url = await exported(space, texts.flatMap((text, n) => [
      { type: "name", name: text },
      { type: "user", role: "user", content: [{ type: "text", text }, { type: "image", mimeType: "image/svg+xml", data: Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" onload="window.pwned=12"/>`).toString("base64") }, { type: "image", mimeType: text, data: text }], at: text },
      { type: "assistant", role: "assistant", model: text, at: at(n), content: [{ type: "thinking", thinking: text, signature: "" }, { type: "text", text: `# ${text}\n- ${text}\n\`\`\`html\n${text}\n\`\`\`\n\`${text}\`` }, { type: "tool_use", id: `${n}`, name: text, input: { [text]: text } }] },
      { type: "tool_result", id: `${n}`, tool: text, output: text, is_error: false, details: { diff: `@@\n+${text}` }, changed_by: [text], at: at(n) },
      { type: "custom_message", custom_type: text, content: [{ type: "text", text }], display: true, extension: text },
      { type: "extension", extension: text, data: { [text]: text } },
      { type: `kind-${text}`, [text]: text }
    ]))
    await using page = await startBrowser()
    await page.open(url)
    await page.evaluate(`document.querySelector(".all").click()`)
    await page.press("/")
    await page.type("pwned")
    await page.evaluate(searched)
    await page.evaluate(`document.querySelectorAll("article").forEach((one) => ["mouseover", "focus", "click"].forEach((kind) => one.querySelectorAll("*").forEach((inner) => inner.dispatchEvent(new Event(kind)))))`)
    expect(await page.evaluate("typeof window.pwned")).toBe("undefined")
    expect(await page.evaluate(`[document.scripts.length, document.styleSheets.length, document.querySelectorAll("iframe, form, link, base, object, embed").length]`)).toEqual([1, 1, 0])
    expect(await page.evaluate("location.href")).toBe(url)
    expect(strayOf(page, url)).toEqual([])
    // All that was said is there to be read.
    const text = await page.evaluate("document.querySelector('.talk').textContent")
    for (const said of texts) expect(text).toContain(said)
  })
})
