import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { type CommandLine, commandLine, otherSpelling } from "../src/Transport/CommandLine.ts"

const windows = { platform: "win32", folder: "C:\\ext\\a" }
const posix = { platform: "linux", folder: "/ext/a" }
const on = (place: typeof windows, ...command: [string, ...Array<string>]): CommandLine => {
  const line = commandLine(command, place)
  if (typeof line === "string") throw new Error(line)
  return line
}

/** What `cmd.exe` makes of the text after `/c`: the outer quotes go, and a variable that is empty leaves nothing. */
const asCmdReads = (text: string) => text.slice(1, -1).replaceAll("%cd:~,%", "")

/** The words of a command line by C's rules: backslashes count before a quote, `""` within quotes is a quote. */
const asProgramsRead = (text: string) => {
  const words: Array<string> = []
  let word = ""
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const [run = ""] = /^\\*(?=")/.exec(text.slice(at)) ?? []
    if (run !== "") {
      word += "\\".repeat(Math.floor(run.length / 2))
      at += run.length
      if (run.length % 2 === 1) {
        word += "\""
        continue
      }
    }
    const char = text[at]
    if (char === "\"") {
      if (quoted && text[at + 1] === "\"") {
        word += "\""
        at++
      } else quoted = !quoted
    } else if (char === " " && !quoted) {
      words.push(word)
      word = ""
    } else word += char
  }
  return [...words, word]
}

describe("commandLine", () => {
  // E-024
  it("starts programs directly on POSIX: with a slash in the extension's folder, without one from PATH", () => {
    assert.deepStrictEqual(on(posix, "./extension.py", "a b", "$x"), { program: "/ext/a/extension.py", args: ["a b", "$x"], verbatim: false })
    assert.deepStrictEqual(on(posix, "../bin/x.cmd"), { program: "/ext/bin/x.cmd", args: [], verbatim: false })
    assert.deepStrictEqual(on(posix, "/opt/x"), { program: "/opt/x", args: [], verbatim: false })
    assert.deepStrictEqual(on(posix, "python3", "./e.py"), { program: "python3", args: ["./e.py"], verbatim: false })
    assert.deepStrictEqual(on(posix, "odd\\name"), { program: "odd\\name", args: [], verbatim: false })
  })

  // E-296
  it("starts a module on Windows through node, by itself and through a batch file that calls node with it", () => {
    assert.deepStrictEqual(on(windows, "./ext.mjs", "a b"), { program: "node", args: ["C:\\ext\\a\\ext.mjs", "a b"], verbatim: false })
    const { args, program, verbatim } = on(windows, "./ext.cmd", "a b")
    assert.deepStrictEqual([program, args.slice(0, -1), verbatim], ["cmd.exe", ["/e:ON", "/v:OFF", "/d", "/c"], true])
    // What stands in such a file, `@node "%~dp0ext.mjs" %*`, gets the words as they are in the manifest.
    assert.deepStrictEqual(asProgramsRead(asCmdReads(args.at(-1)!)), ["C:\\ext\\a\\ext.cmd", "a b"])
  })

  // E-035
  it("starts scripts through their interpreter on Windows, whatever the case of their ending", () => {
    assert.deepStrictEqual(on(windows, "./ext.exe", "a b"), { program: "C:\\ext\\a\\ext.exe", args: ["a b"], verbatim: false })
    assert.deepStrictEqual(on(windows, "python", "e.py"), { program: "python", args: ["e.py"], verbatim: false })
    assert.deepStrictEqual(on(windows, ".\\E.PY", "1").args, ["C:\\ext\\a\\E.PY", "1"])
    assert.deepStrictEqual([".sh", ".py", ".mjs", ".js", ".cjs", ".ps1"].map((ending) => on(windows, `./e${ending}`).program), [
      "sh", "python", "node", "node", "node", "powershell.exe"
    ])
    assert.deepStrictEqual(on(windows, ".\\e.sh", "a\\b").args, ["C:/ext/a/e.sh", "a\\b"])
    assert.deepStrictEqual(on(windows, "./ext.ps1", "a").args.slice(-3), ["-File", "C:\\ext\\a\\ext.ps1", "a"])
  })

  // E-034 E-035
  it("quotes for a batch file, so that no argument is read as a command", () => {
    assert.deepStrictEqual(on(windows, "./ext.cmd", "a b", "x&calc"), {
      program: "cmd.exe",
      args: ["/e:ON", "/v:OFF", "/d", "/c", "\"\"C:\\ext\\a\\ext.cmd\" \"a b\" \"x&calc\"\""],
      verbatim: true
    })
    assert.strictEqual(on(windows, "npx.CMD", "%PATH%").args.at(-1), "\"\"npx.CMD\" \"%%cd:~,%PATH%%cd:~,%\"\"")
    assert.strictEqual(commandLine(["x.bat", "a\nb"], windows), "a batch file takes no argument with a line break")
  })

  it("knows that npx may be npx.cmd on Windows", () => {
    assert.deepStrictEqual(otherSpelling(["npx", "-y", "x"], "win32"), ["npx.cmd", "-y", "x"])
    assert.isUndefined(otherSpelling(["npx.exe"], "win32"))
    assert.isUndefined(otherSpelling(["npx"], "darwin"))
  })

  it.effect.prop("gives a batch file back the very arguments, and leaves cmd.exe no sign outside of quotes", [
    Schema.Array(Schema.Union([Schema.String, Schema.Literals(["x&calc", "%PATH%", "a\"b", "\\", "a\\\"", "\"&calc\"", "^", "!x!", ""])]))
  ], ([raw]) =>
    Effect.sync(() => {
      const words = raw.map((word) => word.replaceAll(/[\0\r\n]/g, ""))
      const text = on(windows, "./x.cmd", ...words).args.at(-1) ?? ""
      const seen = asCmdReads(text)
      let quoted = false
      for (const char of seen) {
        if (char === "\"") quoted = !quoted
        else assert.isTrue(quoted || char === " ", `${char} outside of quotes in ${seen}`)
      }
      // Every percent sign is kept from opening the name of a variable.
      assert.notInclude(text.replaceAll("%%cd:~,%", ""), "%")
      assert.deepStrictEqual(asProgramsRead(seen), ["C:\\ext\\a\\x.cmd", ...words])
    }))
})
