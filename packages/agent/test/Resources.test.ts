import { execFileSync } from "node:child_process"
import { symlinkSync } from "node:fs"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Option, Path } from "effect"
import { Operations, type ToolResult } from "@nimlet/tools"
import { layerLocal } from "@nimlet/tools"
import { looksLikeFile, makeMentions, mentionsIn } from "../src/Mentions.ts"
import { loadResources, type Resources } from "../src/Resources.ts"
import { sheetOf } from "../src/Resources/FrontMatter.ts"
import { expandTemplate } from "../src/Resources/PromptTemplates.ts"
import { skillOf } from "../src/Resources/Skills.ts"

interface Space {
  readonly root: string
  readonly write: (path: string, text: string, mode?: number) => Effect.Effect<void>
  readonly load: (options?: { readonly trusted?: boolean; readonly at?: string }) => Effect.Effect<Resources, never, NodeServices.NodeServices | Operations>
}

const inSpace = <A, E>(body: (space: Space) => Effect.Effect<A, E, NodeServices.NodeServices | Operations>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const root = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
    const write = (to: string, text: string, mode = 0o644) => {
      const file = path.join(root, to)
      return Effect.orDie(fs.makeDirectory(path.dirname(file), { recursive: true }).pipe(Effect.andThen(fs.writeFileString(file, text)), Effect.andThen(fs.chmod(file, mode))))
    }
    yield* write("home/x", "")
    yield* write("work/x", "")
    const load: Space["load"] = ({ at = "work", trusted = true } = {}) =>
      loadResources({ home: `${root}/home`, workspace: `${root}/${at}`, trusted: () => trusted, env: { PATH: process.env["PATH"], SEEN: "yes" } })
    return yield* Effect.provide(body({ root, write, load }), layerLocal({ workspace: `${root}/work` }))
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

const textOf = ({ content }: ToolResult) => content.flatMap((part) => part.type === "text" ? [part.text] : []).join("")
const quiet = { output: () => Effect.void }

describe("front matter", () => {
  it("is read by its lines, whatever a value holds, and is no part of the body", () => {
    const { body, fields } = sheetOf("---\r\nname: \"a b\"\ndescription: Use when: x\nlong: >\n  one\n  two\nempty:\n---\n# Head\nbody\n")
    assert.deepStrictEqual(Object.fromEntries(fields), { name: "a b", description: "Use when: x", long: "one two", empty: "" })
    assert.strictEqual(body, "# Head\nbody\n")
    for (const text of ["no front", "---\nname: x\nnever ends", "", "\n---\na: b\n---"]) assert.strictEqual(sheetOf(text).body, text)
  })
})

describe("skills", () => {
  it("are named and described by their front matter, else by folder and first line", () => {
    assert.deepStrictEqual(skillOf("/f", "folder", "---\nname: pdf\ndescription: |\n  Reads\n  PDFs\n---\n").skill, { name: "pdf", file: "/f", description: "Reads PDFs" })
    assert.deepStrictEqual(skillOf("/f", "folder", "# Title\n\nDoes things.\nMore.").skill, { name: "folder", file: "/f", description: "Does things." })
  })

  // E-018 E-307 E-308 X-008
  it.effect("come from five roots in their order, the last of a name wins, a project's when it is trusted", () =>
    inSpace(({ load, root, write }) =>
      Effect.gen(function*() {
        const roots = ["home/.agents", "home/.nimlet", "work/.agent", "work/.agents", "work/.nimlet"]
        for (const [index, at] of roots.entries()) {
          yield* write(`${at}/skills/own${index}/SKILL.md`, `---\ndescription: d${index}\n---\n`)
          for (let shared = 0; shared <= index; shared++) yield* write(`${at}/skills/x${index}-${shared}/SKILL.md`, `---\nname: ${index === shared ? "" : "S"}hared${shared}\ndescription: from ${index}\n---\n`.replace("Sh", "sH"))
        }
        const { appended, builtins, skills } = yield* load()
        const byName = new Map(skills.map(({ description, name }) => [name.toLowerCase(), description]))
        for (const index of roots.keys()) assert.strictEqual(byName.get(`own${index}`), `d${index}`)
        assert.deepStrictEqual([0, 1, 2, 3].map((shared) => byName.get(`shared${shared}`)), ["from 4", "from 4", "from 4", "from 4"])
        assert.include(appended.at(-1), "- own0: d0\n")
        const read = yield* builtins[0]!.run({ name: "own4" }, quiet)
        assert.include(textOf(read), `${root}/work/.nimlet/skills/own4/SKILL.md`)
        const untrusted = yield* load({ trusted: false })
        assert.deepStrictEqual(untrusted.skills.map(({ name }) => name).filter((name) => name.startsWith("own")), ["own0", "own1"])
      })))

  it.effect.each([
    ["front matter without an end", "---\nname: x\ndescription: y\n", "the front matter has no end", true],
    ["a line of it that is none", "---\ndescription: y\nname = x\n---\n", "line 3 of its front matter", true],
    ["no description", "---\nname: x\n---\nText.", "description is missing", true],
    ["nothing at all", "", "description is missing", true],
    ["no text", "PNG\0\0", "is binary", false],
    ["too much", "x".repeat(1024 * 1024 + 1), "has more than", false]
  ] as const)("with %s are told with their file and what to do", ([, text, fault, isOffered]) =>
    inSpace(({ load, root, write }) =>
      Effect.gen(function*() {
        yield* write("home/.agents/skills/fine/SKILL.md", "---\n# note\ndescription: y\ntags:\n- a\n- b\n---\n")
        yield* write("home/.agents/skills/README.md", "no skill")
        yield* write("home/.agents/skills/wrong/SKILL.md", text)
        const { skills, warnings } = yield* load()
        assert.strictEqual(warnings.length, 1)
        assert.match(warnings[0] ?? "", new RegExp(`^${root}/home/.agents/skills/wrong/SKILL.md: .*${fault}.*; `))
        assert.strictEqual(skills.length, isOffered ? 2 : 1)
      })))

  it.live("and other resources that are a pipe are told, and not waited for", () =>
    inSpace(({ load, root, write }) =>
      Effect.gen(function*() {
        const names = [".agents/skills/x/SKILL.md", ".agents/prompts/x.md", ".nimlet/tools/x/tool.json", ".nimlet/SYSTEM.md"]
        for (const name of names) {
          yield* write(`home/${name}.beside`, "")
          execFileSync("mkfifo", [`${root}/home/${name}`])
        }
        const { warnings } = yield* load()
        assert.strictEqual(warnings.length, names.length)
        for (const warning of warnings) assert.include(warning, "is no regular file; take it away")
      })), 10_000)

  it.effect("that are not there offer no tool and say nothing", () =>
    inSpace(({ load }) => Effect.map(load(), ({ appended, builtins }) => assert.deepStrictEqual([appended, builtins], [[], []]))))
})

describe("prompt templates", () => {
  it("take their arguments as typed, or word by word as a shell parts them", () => {
    const expand = (body: string, args: string) => expandTemplate({ name: "t", description: "", body }, args)
    assert.strictEqual(expand("all: $ARGUMENTS, again: $@", "a  'b c'"), "all: a  'b c', again: a  'b c'")
    assert.strictEqual(expand("$2 $1 $3 $10 $x $", "one \"two three\" f'o u'r"), "two three one fo ur one0 $x $")
    assert.strictEqual(expand("$1", "$2 $ARGUMENTS"), "$2")
    assert.strictEqual(expand("$@ $1", ""), " ")
  })

  // E-309 E-310
  it.effect("come from five roots in their order, the last of a name wins; empty and huge ones are none", () =>
    inSpace(({ load, write }) =>
      Effect.gen(function*() {
        const roots = ["home/.agents", "home/.nimlet", "work/.agent", "work/.agents", "work/.nimlet"]
        for (const [index, at] of roots.entries()) {
          yield* write(`${at}/prompts/own${index}.md`, `body ${index}`)
          for (let shared = 0; shared <= index; shared++) yield* write(`${at}/prompts/until${shared}.md`, `from ${index}`)
        }
        for (const index of [0, 1, 2, 3]) yield* write(`work/.nimlet/prompts/${index === 3 ? "LAST" : "last"}.md`, `l${index}`)
        yield* write("work/.nimlet/prompts/empty.md", "---\ndescription: x\n---\n\n")
        yield* write("work/.nimlet/prompts/huge.md", "x".repeat(100_001))
        yield* write("work/.nimlet/prompts/deep/no.md", "x")
        yield* write("work/.nimlet/prompts/binary.md", "x\0")
        const { templates, warnings } = yield* load()
        assert.deepStrictEqual(warnings.map((warning) => warning.replace(/^.*prompts./, "").replace(/;.*/, "")), ["binary.md: is binary", "empty.md: has no text", "huge.md: has more than 100000 bytes"])
        const byName = Object.fromEntries(templates.map(({ body, name }) => [name, body]))
        assert.deepStrictEqual(roots.map((_, index) => byName[`own${index}`]), roots.map((_, index) => `body ${index}`))
        assert.strictEqual(byName["until0"], "from 4")
        assert.notProperty(byName, "empty")
        assert.notProperty(byName, "huge")
        assert.notProperty(byName, "no")
        assert.deepStrictEqual((yield* load({ trusted: false })).templates.map(({ body }) => body), ["body 0", "from 1", "body 1", "from 1"])
      })))
})

describe("tool.json tools", () => {
  const manifest = (name: string, command: ReadonlyArray<string>, more: object = {}) =>
    JSON.stringify({ name, description: `does ${name}`, input_schema: { type: "object", properties: { n: { type: "number" } } }, command, ...more })

  // E-007
  it.effect("are one process a call: arguments in, one JSON value out", () =>
    inSpace(({ load, root, write }) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        yield* write("home/.nimlet/tools/echo/tool.json", manifest("echo", ["run.sh", "a b"], { capabilities: ["read"] }))
        yield* write("home/.nimlet/tools/echo/run.sh", `#!/bin/sh\necho $$ >> ${root}/pids\nprintf '{"in":%s,"arg":"%s","cwd":"%s","env":"%s"}' "$(cat)" "$1" "$PWD" "$SEEN"\n`, 0o755)
        const { tools: [echo] } = yield* load()
        assert.deepStrictEqual([echo?.name, echo?.description, echo?.capabilities], ["echo", "does echo", ["read"]])
        const results = yield* Effect.forEach([1, 2], (n) => echo!.run({ n }, quiet), { concurrency: 2 })
        assert.deepStrictEqual(results.map((result) => JSON.parse(textOf(result))), [1, 2].map((n) => ({ in: { n }, arg: "a b", cwd: `${root}/work`, env: "yes" })))
        const pids = (yield* fs.readFileString(`${root}/pids`)).trim().split("\n")
        assert.lengthOf(new Set(pids), 2)
        for (const pid of pids) assert.isFalse(yield* fs.exists(`/proc/${pid}`))
      })))

  it.live("that fail, say no JSON or take too long give an error with what they said", () =>
    inSpace(({ load, write }) =>
      Effect.gen(function*() {
        const scripts = { fails: "echo no >&2; exit 3", half: "echo 1; exit 4", chatty: "echo hello", text: "echo '\"plain\"'", slow: "echo begun; exec sleep 60" }
        for (const [name, script] of Object.entries(scripts)) {
          yield* write(`home/.nimlet/tools/${name}/tool.json`, manifest(name, ["./run.sh"], { timeout_seconds: 1 }))
          yield* write(`home/.nimlet/tools/${name}/run.sh`, `#!/bin/sh\n${script}\n`, 0o755)
        }
        const { tools } = yield* load()
        const run = (name: string) => tools.find((tool) => tool.name === name)!.run({}, quiet)
        assert.deepStrictEqual(yield* run("fails"), { content: [{ type: "text", text: "The tool exited with code 3.\nno" }], isError: true })
        assert.deepStrictEqual(yield* run("half"), { content: [{ type: "text", text: "The tool exited with code 4.\n1" }], isError: true })
        assert.deepStrictEqual(yield* run("chatty"), { content: [{ type: "text", text: "The tool did not print one JSON value.\nhello" }], isError: true })
        assert.strictEqual(textOf(yield* run("text")), "plain")
        assert.deepStrictEqual(yield* run("slow"), { content: [{ type: "text", text: "The tool did not end in 1 s, and was ended." }], isError: true })
      })))

  // E-311 E-312
  it.effect("come from three roots in their order, the last of a name wins; what is wrong is skipped with a word", () =>
    inSpace(({ load, write }) =>
      Effect.gen(function*() {
        const roots = ["home/.nimlet", "work/.agent", "work/.nimlet"]
        for (const [index, at] of roots.entries()) {
          for (const name of [`own${index}`, "shared"]) {
            yield* write(`${at}/tools/${name}/tool.json`, manifest(name, ["/bin/echo", String(index)]))
          }
        }
        yield* write("home/.agents/tools/none/tool.json", manifest("none", ["/bin/true"]))
        yield* write("work/.agents/tools/none/tool.json", manifest("none", ["/bin/true"]))
        yield* write("home/.nimlet/tools/bash/tool.json", manifest("Bash", ["/bin/true"]))
        yield* write("home/.nimlet/tools/gone/tool.json", manifest("gone", ["gone.sh"]))
        yield* write("home/.nimlet/tools/broken/tool.json", "{")
        yield* write("home/.nimlet/tools/nameless/tool.json", manifest(" ", ["/bin/true"]))
        const { tools, warnings } = yield* load()
        assert.deepStrictEqual(tools.map(({ name }) => name), ["own0", "shared", "own1", "own2"])
        assert.strictEqual(textOf(yield* tools[1]!.run({}, quiet)), "2")
        assert.deepStrictEqual(warnings.map((warning) => /^skipping \S+\/(\w+):/.exec(warning)?.[1]), ["bash", "broken", "gone", "nameless"])
        assert.deepStrictEqual((yield* load({ trusted: false })).tools.map(({ name }) => name), ["own0", "shared"])
      })))
})

describe("a tool.json that a provider would refuse", () => {
  const file = { name: "good", description: "does it", input_schema: { type: "object" }, command: ["/bin/true"] }

  it.effect.each([
    ["name", { name: "bad name!" }, 'name "bad name!" must be of 1 to 64 letters'],
    ["a long name", { name: "x".repeat(65) }, "must be of 1 to 64 letters"],
    ["the schema's type", { input_schema: { type: "strin" } }, 'input_schema.type must be "object"'],
    ["a schema of something else", { input_schema: { type: "string" } }, 'input_schema.type must be "object"'],
    ["a type within", { input_schema: { type: "object", properties: { n: { type: "strin" } } } }, "input_schema.properties.n.type must be one of"],
    ["what is required", { input_schema: { type: "object", required: "n" } }, "input_schema.required must be a list of names"]
  ] as const)("is left out, with its field named: %s", ([, wrong, fault]) =>
    inSpace(({ load, write }) =>
      Effect.gen(function*() {
        yield* write("home/.nimlet/tools/good/tool.json", JSON.stringify(file))
        yield* write("home/.nimlet/tools/wrong/tool.json", JSON.stringify({ ...file, name: "wrong", ...wrong }))
        const { tools, warnings } = yield* load()
        assert.deepStrictEqual(tools.map(({ name }) => name), ["good"])
        assert.lengthOf(warnings, 1)
        assert.match(warnings[0]!, /^skipping \S+\/wrong: tool\.json: /)
        assert.include(warnings[0], fault)
      })))
})

describe("instructions", () => {
  it.effect("are the person's own, then one file a folder from the repository's top to the workspace", () =>
    inSpace(({ load, root, write }) =>
      Effect.gen(function*() {
        yield* write("AGENTS.md", "not ours")
        yield* write("home/.nimlet/AGENTS.md", "global words")
        yield* write("work/.git/HEAD", "")
        yield* write("work/AGENTS.md", "top agents")
        yield* write("work/CLAUDE.md", "top claude")
        yield* write("work/a/CLAUDE.md", "middle claude")
        yield* write("work/a/b/AGENTS.override.md", "override")
        yield* write("work/a/b/AGENTS.md", "not this")
        const { appended: [text] } = yield* load({ at: "work/a/b", trusted: false })
        assert.strictEqual(text, [["global", "global words"], [`${root}/work/AGENTS.md`, "top agents"], [`${root}/work/a/CLAUDE.md`, "middle claude"], [`${root}/work/a/b/AGENTS.override.md`, "override"]]
          .map(([label, said]) => `<file path="${label}">\n${said}\n</file>`).join("\n"))
      })))

  it.effect("outside a repository are the workspace's alone, are bounded, and are no link that leads away", () =>
    inSpace(({ load, root, write }) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        yield* write("AGENTS.md", "someone else's")
        yield* write("work/AGENTS.md", "é".repeat(40_000))
        const { appended: [text = ""] } = yield* load()
        assert.match(text, /é\n\[14464 bytes left out\]\n<\/file>$/)
        assert.notInclude(text, "someone")
        yield* write("secret", "secret")
        yield* fs.remove(`${root}/work/AGENTS.md`)
        yield* fs.symlink(`${root}/secret`, `${root}/work/AGENTS.md`)
        assert.deepStrictEqual((yield* load()).appended, [])
        yield* write("work/docs/x.md", "linked")
        yield* fs.symlink(`${root}/work/docs/x.md`, `${root}/work/CLAUDE.md`)
        assert.include((yield* load()).appended[0], "linked")
      })))

  it.effect("of a folder below come once, when something there is read", () =>
    inSpace(({ load, write }) =>
      Effect.gen(function*() {
        yield* write("work/AGENTS.md", "top")
        yield* write("work/a/AGENTS.md", "in a")
        yield* write("work/a/b/AGENTS.md", "in b")
        for (const path of ["work/a/1", "work/a/b/1", "work/a/b/2", "work/c/1"]) yield* write(path, "")
        const { scoped } = yield* load()
        const told = Effect.fnUntraced(function*(path: string) {
          return (yield* scoped(path)).map(({ text }) => text)
        })
        for (const [path, texts] of [["x", []], ["a/b/1", ["in a", "in b"]], ["a/b/2", []], ["./a/1", []], ["c/1", []], ["../home/x", []]] as const) {
          assert.deepStrictEqual(yield* told(path), [...texts], path)
        }
      })))

  it.effect("SYSTEM.md takes the place of the base, APPEND_SYSTEM.md stands behind it; the project's where it is trusted", () =>
    inSpace(({ load, write }) =>
      Effect.gen(function*() {
        for (const at of ["home", "work"]) for (const name of ["SYSTEM", "APPEND_SYSTEM"]) yield* write(`${at}/.nimlet/${name}.md`, `${at} ${name}`)
        const trusted = yield* load()
        assert.deepStrictEqual([Option.getOrNull(trusted.system), ...trusted.appended], ["work SYSTEM", "home APPEND_SYSTEM", "work APPEND_SYSTEM"])
        const untrusted = yield* load({ trusted: false })
        assert.deepStrictEqual([Option.getOrNull(untrusted.system), ...untrusted.appended], ["home SYSTEM", "home APPEND_SYSTEM"])
      })))
})

describe("mentions", () => {
  it("are paths behind an @ at the start of a word, in quotes where they have blanks", () => {
    const paths = (text: string) => mentionsIn(text).map(({ path, quoted }) => quoted ? `"${path}"` : path)
    assert.deepStrictEqual(paths("see @a/b.ts, @a/b.ts and me@mail.org or\n@größe-1+x. @"), ["a/b.ts", "größe-1+x."])
    assert.deepStrictEqual(paths('@"my notes/a b.txt", @~/x and @"a" @a not b@"c" nor @"d\n"'), ['"my notes/a b.txt"', "~/x", '"a"'])
    assert.deepStrictEqual(paths("@app.route('/x') @pytest.mark.slow() @Component({})"), [])
  })

  it("that are the names of no file are told only where a file must have been meant", () => {
    const told = (text: string) => mentionsIn(text).filter(looksLikeFile).map(({ path }) => path)
    assert.deepStrictEqual(told('@missing.md @src/x.test.tsx. @./x @../x @/etc/x @~/x @lib/ @"a b" @Makefile.in @report.PDF'), ["missing.md", "src/x.test.tsx.", "./x", "../x", "/etc/x", "~/x", "lib/", "a b", "report.PDF"])
    assert.deepStrictEqual(told("@Injectable @types/node @nimlet/agent @scope/pkg-name @pytest.fixture @mail.org @someone @1.2.3 @latest - @ @param x @app.route"), [])
  })

  it.effect("bring text files, folders and images of the workspace along, and leave all else as words", () =>
    inSpace(({ root, write }) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        yield* write("work/a.txt", "alpha")
        yield* write("work/with blanks.txt", "beta")
        yield* write("work/d/e/x", "")
        yield* write("work/d/f", "")
        yield* write("outside", "no")
        yield* write("work/bin", "a\0b")
        yield* write("work/long", "é".repeat(60_000))
        yield* fs.writeFile(`${root}/work/i.png`, Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC", "base64"))
        yield* fs.writeFile(`${root}/work/broken.png`, Buffer.from("89504e470d0a1a0a00", "hex"))
        yield* fs.writeFile(`${root}/work/huge.png`, Buffer.concat([Buffer.from("89504e470d0a1a0a00", "hex"), Buffer.alloc(5 * 1024 * 1024)]))
        execFileSync("mkfifo", [`${root}/work/pipe`])
        symlinkSync("/dev/zero", `${root}/work/zero`)
        symlinkSync("../outside", `${root}/work/away`)
        const mentions = yield* makeMentions
        const { content, warnings } = yield* mentions('@a.txt. @d @i.png @bin @nowhere @../outside @long @"with blanks.txt" @pipe @zero @away @gone.md @"not there" @huge.png @broken.png @types/node')
        const texts = content.flatMap((part) => part.type === "text" ? [part.text] : [])
        assert.deepStrictEqual(texts.slice(0, 2), ["<file path=\"a.txt\">\nalpha\n</file>", "<folder path=\"d\">\ne/\nf\n</folder>"])
        assert.match(texts[2]!, /é\n\[20000 bytes left out; read the file for them\]\n<\/file>$/)
        assert.deepStrictEqual(texts.slice(3), ["<file path=\"with blanks.txt\">\nbeta\n</file>"])
        assert.deepInclude(content.find((part) => part.type === "image"), { mimeType: "image/png", path: "i.png" })
        assert.deepStrictEqual(warnings.map((warning) => /^@(?:"(.+?)"|(\S+)) is left as words: /.exec(warning)?.slice(1).join("")), ["bin", "../outside", "pipe", "zero", "away", "gone.md", "not there", "huge.png", "broken.png"])
        assert.lengthOf((yield* mentions(Array.from({ length: 40 }, (_, n) => `@f${n}`).join(" "))).warnings, 1)
      })))
})
