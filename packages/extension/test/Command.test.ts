import { assert, describe, it } from "@effect/vitest"
import { posix, win32 } from "node:path"
import { programOf } from "../src/Command.ts"

const here = { folder: "/home/me/ext", windows: false, resolve: posix.resolve }
const there = { folder: "C:\\me\\ext", windows: true, resolve: win32.resolve }
const plain = (program: string, ...args: ReadonlyArray<string>) => ({ named: program, program, args, shell: false })

describe("programOf", () => {
  it("finds a word with a slash in the folder, leaves absolute ones and names for the PATH, and keeps arguments as they are", () => {
    assert.deepStrictEqual(programOf(["./extension.py", "a b", "$HOME"], here), plain("/home/me/ext/extension.py", "a b", "$HOME"))
    assert.deepStrictEqual(programOf(["bin/run"], here), plain("/home/me/ext/bin/run"))
    assert.deepStrictEqual(programOf(["/usr/bin/env", "x"], here), plain("/usr/bin/env", "x"))
    assert.deepStrictEqual(programOf(["python", "e.py"], here), plain("python", "e.py"))
    assert.deepStrictEqual(programOf(["./run.cmd"], here), plain("/home/me/ext/run.cmd"))
    assert.deepStrictEqual(programOf([".\\run"], here), plain(".\\run"))
  })

  it("on Windows a backslash is a slash, and programs start as they are", () => {
    assert.deepStrictEqual(programOf([".\\run.exe", "a"], there), plain("C:\\me\\ext\\run.exe", "a"))
    assert.deepStrictEqual(programOf(["python", "e.py"], there), plain("python", "e.py"))
  })

  it("on Windows scripts go through their interpreter", () => {
    assert.deepStrictEqual(programOf(["./ext.PS1", "a b"], there), {
      named: "C:\\me\\ext\\ext.PS1",
      program: "powershell.exe",
      args: ["-NoProfile", "-ExecutionPolicy", "Bypass", "-File", "C:\\me\\ext\\ext.PS1", "a b"],
      shell: false
    })
    assert.deepStrictEqual(programOf(["./ext.sh", "a"], there), { named: "C:\\me\\ext\\ext.sh", program: "sh", args: ["C:/me/ext/ext.sh", "a"], shell: false })
  })

  it.each([
    ["a b", "\"a b\""],
    ["x&calc", "\"x&calc\""],
    ["say \"hi\" & calc", "\"say \"\"hi\"\" & calc\""],
    ["%PATH%", "\"\"^%\"PATH\"^%\"\""]
  ])("an argument of a batch file stays one argument and runs nothing: %s", (word, quoted) => {
    for (const file of ["./ext.cmd", "./ext.bat"]) {
      const started = programOf([file, word], there)
      assert.deepStrictEqual([started.shell, started.args, started.program], [true, [], `"C:\\me\\ext\\${file.slice(2)}" ${quoted}`])
    }
  })
})
