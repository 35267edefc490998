import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { createHash } from "node:crypto"
import type { ContentPart, SessionEntry } from "@nimlet/protocol"
import { pageOf } from "../src/ExportPage.ts"
import { pageScript, scriptHash } from "../src/ExportScript.ts"
import { pageStyle, styleHash } from "../src/ExportStyle.ts"
import { diffCounts, proseHtml } from "../src/ExportText.ts"
import type { UnknownEntry } from "../src/index.ts"

const about = { id: "1", title: "A title", workspace: "/w" }
const start = Date.parse("2026-11-30T14:00:00Z")
const at = (seconds: number) => new Date(start + seconds * 1000).toISOString()
const user = (text: string, seconds = 0): SessionEntry => ({ type: "user", role: "user", content: [{ type: "text", text }], at: at(seconds) })
const answer = (content: ReadonlyArray<ContentPart>, seconds = 0, took?: number): SessionEntry => ({
  type: "assistant", role: "assistant", content, model: "m", usage: { input_tokens: 1200, output_tokens: 34 }, at: at(seconds), ...(took === undefined ? {} : { duration_ms: took })
})
const call = (id: string, input: unknown = {}): ContentPart => ({ type: "tool_use", id, name: `tool-${id}`, input })
const result = (id: string, output: string, seconds = 0, took?: number): SessionEntry => ({
  type: "tool_result", id, output, is_error: false, at: at(seconds), ...(took === undefined ? {} : { duration_ms: took })
})

const elements = new Set(("html head meta title style body header div b span input output button main section h1 p article a time details summary code pre ul ol li strong br dl dt dd h4 img " +
  "figure svg path text rect footer script em blockquote table thead tbody tr th td").split(" "))
const attributes = new Set(("lang charset http-equiv content name class hidden type placeholder aria-label id href title alt src viewBox role d x y width height rx").split(" "))
/** One tag as the page writes them; whatever else begins with `<` was not meant. */
const tag = /^<(?:(\/)([a-z0-9]+)|([a-z0-9]+)((?: [a-zA-Z-]+(?:="[^"<>]*")?)*)\/?)>/
const inert = (page: string): ReadonlyArray<string> => {
  const wrong: Array<string> = []
  const body = page.replace("<!doctype html>", "").replace(`<style>${pageStyle}</style>`, "").replace(`<script>${pageScript}</script>`, "")
  for (const [from] of body.matchAll(/</g).map(({ index }) => [index] as const)) {
    const found = tag.exec(body.slice(from, from + 5000))
    if (found === null) {
      wrong.push(body.slice(from, from + 60))
      continue
    }
    const [, , closed, opened, rest = ""] = found
    const name = closed ?? opened ?? ""
    if (!elements.has(name) || name === "script" || name === "style") wrong.push(`element ${name}`)
    for (const [, key = "", value = ""] of rest.matchAll(/ ([a-zA-Z-]+)(?:="([^"]*)")?/g)) {
      if (!attributes.has(key)) wrong.push(`attribute ${key}`)
      if (key === "href" && !/^#e\d+$/.test(value)) wrong.push(`href ${value}`)
      if (key === "src" && !/^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]*$/.test(value)) wrong.push(`src ${value}`)
      if (key === "content" && value.includes("nothing to see")) wrong.push(value)
    }
  }
  return wrong
}
const shown = (page: string): string =>
  page.replaceAll(/<[^>]*>/g, "").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", "\"").replaceAll("&#39;", "'").replaceAll("&amp;", "&")

/** A session in which every text is `text`. */
const everywhere = (text: string): ReadonlyArray<SessionEntry | UnknownEntry> => [
  { type: "user", role: "user", content: [
    { type: "text", text }, { type: "image", mimeType: text, data: text }, { type: "image", mimeType: "image/png", data: text }, { type: "image", mimeType: "image/svg+xml", data: "PHN2Zz4=" },
    { type: "file", mimeType: text, filename: text }, { type: "source", url: text, title: text }
  ], at: text },
  { type: "assistant", role: "assistant", model: text, at: at(1), content: [
    { type: "thinking", thinking: text, signature: text }, { type: "text", text: `# ${text}\n- ${text}\n1. ${text}\n| ${text}\n\`\`\`${text}\n${text}\n\`\`\`\n**${text}** \`${text}\` *${text}* [${text}](${text})\n> ${text}\n| ${text} | b |\n|---|---|\n| ${text} | *${text}* |` },
    { type: "tool_use", id: "a", name: text, input: { [text]: text, path: text } }, { type: "tool_use", id: "b", name: text, input: text, parse_error: text },
    { type: "tool_use", id: "h", name: text, input: {}, hosted: true }, { type: "tool_result", tool_use_id: text, content: text, is_error: true }
  ] },
  { type: "tool_result", id: "a", tool: text, output: text, is_error: true, details: { diff: `@@\n+${text}\n-${text}` }, changed_by: [text], images: [{ type: "image", mimeType: text, path: text }], at: at(2) },
  { type: "tool_result", id: text, tool: text, output: text, is_error: false, at: at(3) },
  { type: "compaction", summary: text, first_kept_index: 0, tokens_before: 1 },
  { type: "extension", extension: text, data: { [text]: text } },
  { type: "custom_message", custom_type: text, extension: text, display: true, content: [{ type: "text", text }] },
  { type: "custom_message", custom_type: text, display: false, content: [{ type: "text", text }] },
  { type: "name", name: text },
  { type: "selection", provider: text, model: text },
  { type: "label", target_id: text, label: text },
  { type: `x${text}`, at: text }
]

const hostile = [
  "<script>alert(1)</script>", "</script><script>", "</pre></details></article>", "<img src=x onerror=alert(1)>", "\" onmouseover=\"alert(1)", "' autofocus onfocus='", "<!--", "]]>", "&lt;script&gt;",
  "</style>", "javascript:alert(1)", "</title><svg onload=alert(1)>", "\u0000<b>", "\ud800<i>", "\u202e<u>", "\u001b[31m<s>", "`<b>`", "**<b>**", "<base href=//x>", "data:text/html,<b>", "\u001b]0;<title>\u0007", "{{constructor}}", "<meta http-equiv=refresh content='0;url=nothing to see'>"
]

describe("an exported page", () => {
  it("has markup of its own only, whatever the session says", () => {
    for (const text of hostile) {
      assert.deepStrictEqual(inert(pageOf({ id: text, title: text, workspace: text, at: text, parent: text }, everywhere(text), 1)), [], JSON.stringify(text))
    }
  })

  const Hostile = Schema.Array(Schema.Union([Schema.Literals(hostile as [string, ...Array<string>]), Schema.String]))
  it.prop("the same for any mixture of such texts", [Hostile], ([texts]) => {
    const text = texts.join("")
    assert.deepStrictEqual(inert(pageOf({ ...about, title: text }, everywhere(text))), [])
  })

  it("gives Markdown its looks, and leaves what only looks like it", () => {
    const html = proseHtml("*one* **two** `a*b*c` 2 * 3 * 4 snake_case\n\n> said\n> so\n\n| a | b |\n|---|:-:|\n| 1 | **2** |\n\n| no table\n\n[the book](https://example.org/b) [x](javascript:alert) ![i](u)", 10_000)
    assert.strictEqual(html, [
      "<p><em>one</em> <strong>two</strong> <code>a*b*c</code> 2 * 3 * 4 snake_case</p>",
      "<blockquote>said<br>so</blockquote>",
      "<div class=\"table\"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td><strong>2</strong></td></tr></tbody></table></div>",
      "<pre>\n| no table</pre>",
      "<p>the book <span class=\"place\">https://example.org/b</span> x <span class=\"place\">javascript:alert</span> ![i](u)</p>"
    ].join(""))
  })

  it("shows what was said as it was said", () => {
    for (const text of ["a < b && c > \"d\" 'e'", "<script>alert(1)</script>", "&amp;", "  two blanks", "é 漢 🙂"]) {
      const page = shown(pageOf(about, [user(text), answer([call("a", { command: text })]), result("a", `out ${text}`)]))
      for (const words of [text, `out ${text}`]) assert.include(page, words)
    }
  })

  it("lets its own style and script through, nothing else, and loads nothing", () => {
    const page = pageOf(about, [user("hello")])
    const hashOf = (text: string) => `sha256-${createHash("sha256").update(text).digest("base64")}`
    assert.deepStrictEqual([styleHash, scriptHash], [hashOf(pageStyle), hashOf(pageScript)])
    assert.include(page, `content="default-src 'none'; script-src '${scriptHash}'; style-src '${styleHash}'; img-src data:; base-uri 'none'; form-action 'none'"`)
    assert.notMatch(page, /(?:src|href)="(?!#|data:image)|url\(|@import|https?:/)
  })

  it("has each result in the call it belongs to, whatever stands between", () => {
    const page = pageOf(about, [
      user("go"),
      answer([call("a"), call("b")]),
      result("b", "the second"),
      { type: "extension", extension: "todo", data: "between" },
      result("a", "the first"),
      answer([{ type: "text", text: "done" }])
    ])
    const places = ["go", "tool-a", "the first", "tool-b", "the second", "between", "done"].map((text) => page.indexOf(`${text}<`))
    assert.deepStrictEqual(places, places.toSorted((a, b) => a - b))
    assert.notInclude(places, -1)
    assert.notInclude(page, "no result")
  })

  it("tells of a call without a result, a result without a call, and an answer that was cut", () => {
    const page = pageOf(about, [user("go"), answer([call("a")]), user("again"), result("z", "lost one"), { type: "assistant", role: "assistant", content: [{ type: "text", text: "half" }], cut: true }])
    for (const text of ["no result", "A result without its call", "lost one", "This answer was cut off here."]) assert.include(page, text)
  })

  it("folds thinking and calls, and shows usage, time and lines changed beside them", () => {
    const page = pageOf(about, [
      user("go"),
      answer([{ type: "thinking", thinking: "hmm", signature: "" }, call("a")], 3, 2100),
      { type: "tool_result", id: "a", output: "ok", is_error: false, details: { diff: "--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n--- old\n+new\n+more\n" }, duration_ms: 340, changed_by: ["lint"], hooks_ms: 12, at: at(4) }
    ])
    assert.notInclude(page, "<details open")
    for (const text of ["1.2k in · 34 out", "2.1 s", "340 ms", "+2", "−1", "arguments changed by lint", "hooks took 12 ms"]) assert.include(shown(page), text)
  })

  it("keeps the size of a page within bounds, and says what it leaves out", () => {
    const long = "x".repeat(3_000_000)
    const page = pageOf(about, [user(long), answer([call("a", { content: long })]), { type: "tool_result", id: "a", output: long, is_error: false, details: { diff: `@@\n${"+y\n".repeat(100_000)}` } }])
    assert.isBelow(page.length, 600_000)
    for (const text of ["2,940,000 characters are left out here", "98,001 more lines"]) assert.include(page, text)
    const endless = pageOf(about, Array.from({ length: 500 }, (_, n) => [answer([call(`${n}`)]), result(`${n}`, long)]).flat())
    assert.isBelow(endless.length, 26_000_000)
    assert.include(endless, "later outputs are shown in short")
  })

  it("says of a session with nothing in it that there is nothing", () => {
    assert.include(pageOf(about, []), "Nothing was said in this session.")
    assert.include(pageOf(about, [], 3), "3 damaged lines of the session are left out.")
  })
})

describe("the timeline of a page", () => {
  const bars = (page: string) =>
    Array.from(page.matchAll(/<rect class="([a-z ]+)" x="([\d.]+)" y="(\d+)" width="([\d.]+)"/g), ([, kind = "", x, y, width]) => ({ kind, from: Number(x), to: Number(x) + Number(width), y: Number(y) }))

  it("has tools that ran at once below each other, and an hour without work as a short pause", () => {
    const drawn = bars(pageOf(about, [
      user("go", 0),
      answer([call("a"), call("b")], 2, 2000),
      result("a", "", 4, 2000),
      result("b", "", 4, 1500),
      user("more", 3600),
      answer([{ type: "text", text: "." }], 3602, 2000)
    ]))
    const [first, second] = drawn.filter(({ kind }) => kind === "model")
    const [a, b] = drawn.filter(({ kind }) => kind === "tool")
    assert.isTrue(first!.to <= a!.from + 0.1 && first!.y === second!.y)
    assert.isTrue(Math.abs(a!.from - b!.from) < 0.1 && a!.y !== b!.y && b!.to < a!.to)
    assert.approximately((second!.to - second!.from) / (first!.to - first!.from), 1, 0.01)
    assert.isBelow(second!.from - a!.to, 40)
  })

  it("shows hooks in a row of their own and failures in their own colour", () => {
    const drawn = bars(pageOf(about, [answer([call("a")], 2, 2000), { type: "tool_result", id: "a", output: "", is_error: true, duration_ms: 1000, hooks_ms: 400, at: at(3) }]))
    assert.deepStrictEqual(drawn.map(({ kind }) => kind), ["model", "tool failed", "hook"])
    assert.strictEqual(new Set(drawn.map(({ y }) => y)).size, 3)
  })

  it("makes do without durations, and without any time at all", () => {
    assert.lengthOf(bars(pageOf(about, [user("go", 0), answer([call("a")], 2), result("a", "", 5)])), 2)
    assert.notInclude(pageOf(about, [{ type: "assistant", role: "assistant", content: [{ type: "text", text: "." }] }]), "<svg")
    assert.notInclude(pageOf(about, [{ type: "assistant", role: "assistant", content: [{ type: "text", text: "." }], at: "yesterday" }]), "<svg")
  })

  it("stays small however long the session is", () => {
    const entries = Array.from({ length: 20_000 }, (_, n) => [answer([call(`${n}`)], n * 10, 1000), result(`${n}`, "", n * 10 + 3, 2000)]).flat()
    const page = pageOf(about, [user("go"), ...entries])
    assert.isBelow(page.slice(page.indexOf("<svg"), page.indexOf("</svg>")).length, 1_000_000)
  }, 30_000)
})

describe("the lines of a diff", () => {
  it("are counted without the names of files, but with lines that look like them", () => {
    assert.deepStrictEqual(diffCounts("--- a/x\n+++ b/x\n@@ -1,2 +1,1 @@\n--- a comment of SQL\n-x\n+++ y\n"), { added: 1, removed: 2 })
  })
})
