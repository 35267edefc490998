/** Instructions, skills, prompt templates and `tool.json` tools, from the file to the model's request. */
import { chmodSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { startModelStub } from "../kit/ModelStub.ts"
import { anthropic } from "../kit/Providers.ts"
import { makeWorkspace, records, startNimlet, type Workspace } from "../kit/Workspace.ts"

interface Asked {
  readonly system: ReadonlyArray<{ readonly text: string }> | string
  readonly messages: ReadonlyArray<object>
  readonly tools: ReadonlyArray<{ readonly name: string }>
}

const prepare = async (steps: Parameters<typeof startModelStub>[0]) => {
  const stub = await startModelStub(steps)
  const space = await makeWorkspace()
  const run = (...args: ReadonlyArray<string>) => space.nimlet(["--mode", "json", ...anthropic.args, ...args], { env: anthropic.env(stub.url) })
  const asked = (index: number) => {
    const body = stub.requests[index]!.body as unknown as Asked
    return { ...body, text: typeof body.system === "string" ? body.system : body.system.map(({ text }) => text).join("\n"), names: body.tools.map(({ name }) => name) }
  }
  return { space, stub, run, asked, [Symbol.asyncDispose]: async () => (await space[Symbol.asyncDispose](), stub[Symbol.asyncDispose]()) }
}

/** One resource of each kind in the project. */
const projectResources = async (space: Workspace) => {
  await space.file(".agents/skills/ship/SKILL.md", "---\ndescription: How we ship\n---\nPush the button.\n")
  await space.file(".agents/prompts/fix.md", "---\ndescription: Fix one\n---\nFix $1 in @notes.txt please.")
  await space.file("notes.txt", "remember the milk\n")
  await space.file(".nimlet/tools/dice/tool.json", JSON.stringify({ name: "dice", description: "Rolls", input_schema: { type: "object" }, command: ["roll.sh"] }))
  chmodSync(await space.file(".nimlet/tools/dice/roll.sh", "#!/bin/sh\necho '{\"rolled\":4}'\n"), 0o755)
  await space.file(".nimlet/SYSTEM.md", "You are the project's own.")
}

describe("resources of a project", () => {
  // E-314
  it("are all left out until it is trusted, and then are all there", async () => {
    await using setup = await prepare([{ text: "ok", repeat: "always" }])
    const { asked, run, space } = setup
    await projectResources(space)
    await space.extension("five", { manifest: { name: "five", command: ["./x.sh"] }, root: ".nimlet/extensions", files: { "x.sh": "#!/bin/sh\necho '{\"type\":\"register\",\"commands\":[],\"tools\":[{\"name\":\"five\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\"}}]}'\ncat >/dev/null\n" } })
    await run("hi")
    await run("/fix it")
    expect(asked(0).names).not.toEqual(expect.arrayContaining(["dice"]))
    expect(setup.stub.requests).toHaveLength(1)
    await run("--approve", "hi")
    await run("--approve", "/fix it")
    for (const name of ["dice", "read_skill", "five"]) expect([name, asked(0).names.includes(name), asked(1).names.includes(name)]).toEqual([name, false, true])
    for (const text of ["the project's own", "How we ship"]) expect([text, asked(0).text.includes(text), asked(1).text.includes(text)]).toEqual([text, false, true])
    const said = JSON.stringify(asked(2).messages)
    expect(said).toContain("Fix it in @notes.txt please.")
    expect(said).toContain("remember the milk")
  })

  it("are used: a skill is read, a tool answers, words of a skill come with its command", async () => {
    await using setup = await prepare([{ tools: [{ name: "read_skill", args: { name: "ship" } }, { name: "dice", args: {} }] }, { text: "shipped" }, { text: "again" }])
    const { asked, run, space } = setup
    await projectResources(space)
    const all = records((await run("--approve", "go")).stdout)
    const outputs = all.filter((record) => record["type"] === "tool_result").map((record) => String(record["output"]))
    expect(outputs[0]).toContain("Push the button.")
    expect(outputs[1]).toBe(`{"rolled":4}`)
    await run("--approve", "/skill:ship right now")
    expect(JSON.stringify(asked(2).messages)).toMatch(/Push the button\..*right now/)
    expect((await run("--approve", "/help")).stdout).toMatch(/\/fix: Fix one.*\/skill:ship: How we ship/)
  })
})

describe("instructions", () => {
  it("need no trust, come from the top down, and with what is read below; --append-system-prompt comes last", async () => {
    await using setup = await prepare([{ tools: [{ name: "read", args: { path: "src/deep/a.txt" } }] }, { tools: [{ name: "read", args: { path: "src/deep/a.txt" } }] }, { text: "ok" }])
    const { asked, run, space } = setup
    await space.file("~/.nimlet/AGENTS.md", "I like tabs.")
    await space.file("AGENTS.md", "Use npm.")
    await space.file("src/AGENTS.md", "Only here: spaces.")
    await space.file("src/deep/a.txt", "x\n")
    await run("--append-system-prompt", "Speak Latin.", "go")
    expect(asked(0).text).toMatch(/<file path="global">\nI like tabs\.\n<\/file>\n<file path="[^"]*\/AGENTS\.md">\nUse npm\.\n<\/file>\n\nSpeak Latin\.$/)
    expect(JSON.stringify(asked(2).messages).split("Only here: spaces.")).toHaveLength(2)
    expect(JSON.stringify(asked(1).messages)).toContain("Only here: spaces.")
  })
})

describe("ask_user", () => {
  it("is offered where somebody can answer, and says so where nobody can", async () => {
    await using space = await makeWorkspace()
    await space.file("script.json", JSON.stringify({ steps: [{ tool: "ask_user", args: { question: "Which one?", options: ["red", "blue"] } }, { text: "done" }] }))
    const machine = await space.nimlet(["--mode", "json", "--script", "script.json", "go"])
    expect(records(machine.stdout).find((record) => record["type"] === "tool_result")).toMatchObject({ is_error: true, output: "User questions are unavailable in this interface." })
    const run = startNimlet({ args: ["--script", "script.json", "go"], cwd: space.work, home: space.home, tty: true, holdStdin: true, env: { TERM: "xterm", NO_COLOR: "1" } })
    await run.until((screen) => screen.includes("\n> "))
    run.child.stdin!.write("2\n")
    const ended = await run.ended
    expect([ended.code, ended.stdout.includes("Which one?")]).toEqual([0, true])
    const folder = join(space.home, ".nimlet/sessions")
    expect(readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8")).join("")).toContain(`"output":"blue"`)
  })
})

describe("a mention", () => {
  it("brings its file along, in quotes a name with blanks; one that brings nothing is told, other words behind an at sign are not", async () => {
    await using setup = await prepare([{ text: "ok" }, { text: "ok" }])
    const { asked, run, space } = setup
    await space.file("my notes.txt", "remember the milk\n")
    const json = await run('read @"my notes.txt" and @gone.md, @/etc/hosts and @Injectable @types/node me@mail.org')
    expect(JSON.stringify(asked(0).messages)).toContain("remember the milk")
    expect(records(json.stdout).filter(({ type }) => type === "diagnostic").map(({ level, message }) => [level, message])).toEqual([
      ["warning", "@gone.md is left as words: there is no such file"],
      ["warning", "@/etc/hosts is left as words: it is outside the workspace"]
    ])
    const print = await space.nimlet(["-p", ...anthropic.args, "see @gone.md"], { env: anthropic.env(setup.stub.url) })
    expect([print.stdout, print.stderr]).toEqual(["ok\n", expect.stringContaining("@gone.md is left as words")])
  })
})

describe("the first request", () => {
  it("has at most 5,000 bytes", async () => {
    await using setup = await prepare([{ text: "ok" }])
    await setup.run("hello")
    expect(JSON.stringify(setup.stub.requests[0]!.body).length).toBeLessThan(5_000)
  })
})
