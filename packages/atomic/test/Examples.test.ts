/** The examples of modules in `packages/sdk/examples`, as they stand. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ToolReply } from "@nimlet/extension"
import { ripgrepPrograms } from "@nimlet/tools"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll } from "vitest"
import { place, startAll, workers } from "./kit.ts"

const example = (name: string) => fileURLToPath(new URL(`../../sdk/examples/${name}`, import.meta.url))
const root = realpathSync(mkdtempSync(join(tmpdir(), "examples-")))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const [bin, far] = [join(root, "bin"), join(root, "far side")]
mkdirSync(bin)
mkdirSync(far)
// Another machine that is this one; what it was asked is written down.
writeFileSync(join(bin, "ssh"), `#!/bin/sh\nshift 3\necho "$1" >> "${root}/asked"\nshift\nexec sh -c "$*"\n`)
chmodSync(join(bin, "ssh"), 0o755)
const environment = { PATH: `${bin}:${process.env.PATH ?? ""}`, HOME: root }
const run = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.scoped(effect).pipe(Effect.provide(workers()))
const textIn = ({ content }: ToolReply): string => content.flatMap((part) => part.type === "text" ? [part.text] : []).join("")

describe("ssh.ts", () => {
  //
  it.live("has the built-in tools work on the machine of --ssh, and here without the flag", () =>
    run(Effect.gen(function*() {
      const flags: Record<string, unknown> = {}
      const { extensions, folder, hooks, report } = yield* startAll({
        paths: [example("ssh.ts")],
        session: { read: (key) => key === "flags" ? { ...flags } : undefined },
        start: { environment, reservedTools: ["read", "write", "edit", "ls", "bash"] }
      })
      assert.deepStrictEqual(report.started, ["ssh"])
      const call = (name: string, args: object) => Effect.map(extensions.callTool(name, { ...args }), (reply) => [textIn(reply), reply.isError] as const)
      writeFileSync(join(folder, "a.txt"), "near")
      assert.deepStrictEqual(yield* call("read", { path: join(folder, "a.txt") }), ["near", false])
      assert.isFalse(existsSync(join(root, "asked")))

      flags["ssh"] = `me@far.example:${far}`
      assert.isFalse((yield* call("write", { path: "sub/it's.txt", content: "one\ntwo\n" }))[1])
      assert.isFalse((yield* call("edit", { path: "sub/it's.txt", edits: [{ oldText: "two", newText: "2" }] }))[1])
      assert.strictEqual(readFileSync(join(far, "sub/it's.txt"), "utf8"), "one\n2\n")
      assert.deepStrictEqual(yield* call("read", { path: "sub/it's.txt" }), ["one\n2\n", false])
      assert.deepStrictEqual(yield* call("read", { path: "none" }), [`cannot read ${far}/none`, true])
      assert.deepStrictEqual(yield* call("ls", {}), ["sub/", false])
      assert.deepStrictEqual(yield* call("bash", { command: "pwd; exit 3" }), [`${far}\n\n\nCommand exited with code 3`, true])
      assert.match((yield* call("bash", { command: "sleep 30", timeout: 0.2 }))[0], /aborted/)
      const outcome = yield* hooks.run("user_bash", { ...place, command: "pwd", exclude_from_context: true })
      const operations = outcome._tag === "Blocked" ? undefined : outcome.payload.operations
      let printed = ""
      const code = yield* extensions.invoke("ssh", operations!.handle, [], (text) => Effect.sync(() => void (printed += text)))
      assert.deepStrictEqual([code, printed], [{ exit_code: 0 }, `${far}\n`])
      assert.deepStrictEqual([...new Set(readFileSync(join(root, "asked"), "utf8").trim().split("\n"))], ["me@far.example"])
    })))
})

describe("truncated-tool.ts", () => {
  // A-247 A-246
  it.live("gives what fits, and says where all of it is; its description has the limits", () =>
    run(Effect.gen(function*() {
      const [ripgrep = ""] = yield* ripgrepPrograms
      symlinkSync(ripgrep, join(bin, "rg"))
      const { extensions, folder } = yield* startAll({ paths: [example("truncated-tool.ts")], start: { environment } })
      const [tool] = yield* extensions.tools
      assert.include(tool?.description, "2000 lines or 50.0KB")
      writeFileSync(join(folder, "many.txt"), Array.from({ length: 3_000 }, (_, n) => `match ${n}`).join("\n"))
      const few = yield* extensions.callTool("rg", { pattern: "match 299\\d", path: "@many.txt" })
      assert.deepStrictEqual([textIn(few).trimEnd().split("\n").length, few.details], [10, { matches: 10 }])
      const many = yield* extensions.callTool("rg", { pattern: "match" })
      const [, file = ""] = /\[Shown: \d+ of 3000 lines, .* of .*KB\. All of it is in (.*)\]$/.exec(textIn(many)) ?? []
      assert.strictEqual(readFileSync(file, "utf8").trimEnd().split("\n").length, 3_000)
      rmSync(file)
      assert.strictEqual(textIn(yield* extensions.callTool("rg", { pattern: "nothing like it" })), "No matches.")
      const bad = yield* extensions.callTool("rg", { pattern: "(" })
      assert.isTrue(bad.isError)
      assert.match(textIn(bad), /regex parse error/)
    })))
})
