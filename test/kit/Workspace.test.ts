import { assert, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { lastingSurvivors, makeWorkspace, records, startNimlet, survivors } from "./Workspace.ts"

/** A stand-in for the program: what it was given comes out as one JSON line. */
const echo = `
let input = ""
process.stdin.on("data", (data) => input += data).on("end", () => {
  console.log(JSON.stringify({ argv: process.argv.slice(2), cwd: process.cwd(), env: process.env, input, tty: process.stdout.isTTY === true }))
  console.error("noise")
  process.exitCode = 3
})
`

describe("A workspace", () => {
  it("writes files and extensions inside its temporary folder and removes them", async () => {
    const workspace = await makeWorkspace({ prefix: "nimlet test with blanks " })
    try {
      await workspace.file("src/a.txt", "a")
      await workspace.file("~/.nimlet/config.json", "{}")
      const folder = await workspace.extension("notes", { manifest: { name: "notes" }, files: { "main.py": "#!/usr/bin/env python3\n" } })
      await workspace.extension("local", { manifest: "{broken", files: {}, root: ".nimlet/extensions" })
      assert.strictEqual(folder, join(workspace.home, ".nimlet/extensions/notes"))
      assert.strictEqual(await readFile(join(workspace.work, "src/a.txt"), "utf8"), "a")
      assert.deepStrictEqual(JSON.parse(await readFile(join(folder, "extension.json"), "utf8")), { name: "notes" })
      assert.strictEqual(await readFile(join(workspace.work, ".nimlet/extensions/local/extension.json"), "utf8"), "{broken")
      assert.strictEqual((await stat(join(folder, "main.py"))).mode & 0o111, 0o111)
    } finally {
      await workspace[Symbol.asyncDispose]()
    }
    assert.isFalse(existsSync(workspace.root))
  })

  it("runs the program with a small environment, its arguments and stdin, and collects what it did", async () => {
    await using workspace = await makeWorkspace()
    const bin = await workspace.file("~/echo.mjs", echo)
    const result = await workspace.nimlet(["-p", "a b"], { bin, stdin: "piped", env: { KEY: "x" } })
    assert.deepInclude(result, { code: 3, signal: null, timedOut: false, stderr: "noise\n" })
    const [seen] = records(result.stdout)
    assert.deepInclude(seen, { argv: ["-p", "a b"], cwd: workspace.work, input: "piped", tty: false })
    assert.deepStrictEqual(Object.keys(seen!["env"]).sort(), ["HOME", "KEY", "LANG", "PATH"])
    assert.strictEqual(seen!["env"].HOME, workspace.home)
    assert.strictEqual(records((await workspace.nimlet([], { bin })).stdout)[0]!["input"], "")
  })

  it.runIf(process.platform === "linux" && existsSync("/usr/bin/script"))("can give the program a terminal", async () => {
    await using workspace = await makeWorkspace()
    const bin = await workspace.file("~/tty.mjs", "console.log(process.stdout.isTTY, process.argv[2])")
    assert.include((await workspace.nimlet(["it's"], { bin, tty: true })).stdout, "true it's")
  })

  it("kills a run at its limit with everything it started", async () => {
    await using workspace = await makeWorkspace()
    const bin = await workspace.file("~/stuck.mjs", `
      import { spawn } from "node:child_process"
      spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" })
      process.stdin.resume()
    `)
    const result = await workspace.nimlet([], { bin, holdStdin: true, limitMs: 300 })
    assert.deepInclude(result, { signal: "SIGKILL", timedOut: true })
    assert.deepStrictEqual(await lastingSurvivors(workspace.root), [])
  })

  it("lets a running program be watched and signalled, and fails to wait for what never comes", async () => {
    await using workspace = await makeWorkspace()
    const bin = await workspace.file("~/ready.mjs", `
      process.on("SIGTERM", () => process.exit(143))
      setInterval(() => {}, 1000)
      console.log("ready")
    `)
    const running = startNimlet({ args: [], cwd: workspace.work, home: workspace.home, bin })
    await running.until((stdout) => stdout.includes("ready"))
    const never = running.until((stdout) => stdout.includes("never")).then(() => "came", String)
    running.signal("SIGTERM")
    assert.strictEqual((await running.ended).code, 143)
    assert.include(await never, "the run ended before")
  })

  it("finds the processes that hold its path or stand in it, and ends them when it is removed", async () => {
    const workspace = await makeWorkspace()
    const left = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { cwd: workspace.work, stdio: "ignore", detached: true })
    const gone = new Promise((resolve) => left.once("exit", (_, signal) => resolve(signal)))
    try {
      assert.deepStrictEqual(survivors(workspace.root).map(({ pid }) => pid), [left.pid])
      assert.deepStrictEqual((await lastingSurvivors(workspace.root, 50)).length, 1)
    } finally {
      await workspace[Symbol.asyncDispose]()
    }
    assert.strictEqual(await gone, "SIGKILL")
    assert.deepStrictEqual(survivors(workspace.root), [])
  })

  it("takes stdout for records only when every line is a whole JSON object", () => {
    assert.deepStrictEqual(records('{"a":1}\n{"b":2}\n'), [{ a: 1 }, { b: 2 }])
    assert.deepStrictEqual(records(""), [])
    assert.throws(() => records('{"a":1}\nnoise\n'), /line 2 .*no JSON: noise/)
    assert.throws(() => records("[1]\n"), /no object/)
    assert.throws(() => records('{"a":1}\n\n'), /line 2/)
    assert.throws(() => records('{"a":1}'), /within a line/)
  })
})
