import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import * as Architecture from "./kit/Architecture.ts"

const root = join(import.meta.dirname, "..")
const file = (path: string, text: string) => Architecture.parse({ path, text })
const manifest = (folder: string, name: string, ...dependencies: ReadonlyArray<string>): Architecture.Manifest =>
  ({ folder, name, dependencies: Object.fromEntries(dependencies.map((to) => [to, "workspace:*"])) })

describe("each rule, on made-up input", () => {
  const manifests = [
    manifest("", "root", "vitest"),
    manifest("packages/protocol", "@nimlet/protocol", "effect"),
    manifest("packages/session", "@nimlet/session", "@nimlet/protocol"),
    manifest("packages/tools", "@nimlet/tools", "@nimlet/protocol", "@nimlet/session")
  ]

  it("a dependency or an import goes to a lower floor only", () => {
    const files = [
      file("packages/protocol/src/A.ts", `import type { X } from "@nimlet/session"`),
      file("packages/session/src/B.ts", `export * from "@nimlet/protocol"`),
      file("packages/session/test/B.test.ts", `await import("@nimlet/tools")`)
    ]
    assert.deepStrictEqual(Architecture.upward(manifests, files), [
      "@nimlet/tools depends on @nimlet/session",
      "packages/protocol/src/A.ts imports @nimlet/session",
      "packages/session/test/B.test.ts imports @nimlet/tools"
    ])
    assert.deepStrictEqual(Architecture.upward([manifest("packages/new", "@nimlet/new")], []), ["@nimlet/new has no floor"])
  })

  it("the worker half of atomic imports three packages at most", () => {
    const files = [
      file("packages/atomic/src/worker/Pi.ts", `import "@nimlet/sdk"; import "@nimlet/agent"`),
      file("packages/atomic/src/host/Events.ts", `import "@nimlet/agent"`)
    ]
    assert.deepStrictEqual(Architecture.upward([manifest("packages/atomic", "@nimlet/atomic")], files), [
      "packages/atomic/src/worker/Pi.ts imports @nimlet/agent, which does not belong in a worker"
    ])
  })

  it("a package is imported by its name, not by a path into it", () => {
    const files = [
      file("packages/session/src/A.ts", `import "@nimlet/protocol/Content"; import "../../protocol/src/Content.ts"; import "@nimlet/protocol"`),
      file("packages/session/test/A.test.ts", `import "../src/A.ts"; import "../../../test/kit/Stub.ts"`),
      file("test/a.test.ts", `import "../apps/cli/src/Cli.ts"`)
    ]
    assert.deepStrictEqual(Architecture.inside(files), [
      "packages/session/src/A.ts imports @nimlet/protocol/Content",
      "packages/session/src/A.ts imports ../../protocol/src/Content.ts",
      "test/a.test.ts imports ../apps/cli/src/Cli.ts"
    ])
    const doors = [{ ...manifest("packages/protocol", "@nimlet/protocol"), exports: { ".": "", "./Content": "" } }]
    assert.deepStrictEqual(Architecture.inside(files.slice(0, 1), doors), ["packages/session/src/A.ts imports ../../protocol/src/Content.ts"])
  })

  it("files do not import each other in a ring, also by type", () => {
    const files = [
      file("packages/a/src/A.ts", `import type { B } from "./deep/B.ts"`),
      file("packages/a/src/deep/B.ts", `import { C } from "../C.ts"`),
      file("packages/a/src/C.ts", `import { A } from "./A.ts"`),
      file("packages/a/src/D.ts", `import { A } from "./A.ts"`)
    ]
    assert.deepStrictEqual(Architecture.cycles(files), ["packages/a/src/A.ts -> packages/a/src/deep/B.ts -> packages/a/src/C.ts -> packages/a/src/A.ts"])
    assert.deepStrictEqual(Architecture.cycles(files.slice(0, 2)), [])
  })

  it("a file outside tests has at most 400 lines", () => {
    const text = "x\n".repeat(401)
    assert.deepStrictEqual(
      Architecture.tooLong([{ path: "packages/a/src/A.ts", text }, { path: "packages/a/test/A.test.ts", text }, { path: "apps/a/b.ts", text: text.slice(2) }]),
      ["packages/a/src/A.ts has 401 lines"]
    )
  })

  it("a file is named for what it holds", () => {
    const names = ["packages/a/src/utils.ts", "packages/a/src/core/A.ts", "packages/a/src/loop-helpers.ts", "packages/a/src/SessionManager.ts", "packages/a/src/TypeScript.ts", "packages/a/src/Score.ts"]
    assert.deepStrictEqual(Architecture.vague(names).map((text) => text.split(" ")[0]), names.slice(0, 4))
  })

  it("an import is declared where it is used; only tests and builds may lean on the root", () => {
    const files = [
      file("packages/protocol/src/A.ts", `import "effect/Schema"; import "node:fs"; import "vitest"`),
      file("packages/protocol/test/A.test.ts", `import "vitest"; import "@nimlet/protocol"; import "zod"`)
    ]
    assert.deepStrictEqual(Architecture.undeclared(manifests, files), ["packages/protocol/src/A.ts imports vitest", "packages/protocol/test/A.test.ts imports zod"])
  })

  it("versions are exact", () => {
    const one = { folder: "", name: "root", dependencies: { a: "^1.0.0", b: "catalog:", c: "1.2.3" }, devDependencies: { d: "latest", e: "workspace:*" } }
    assert.deepStrictEqual(
      Architecture.inexact([one], `packages:\n  - a/*\ncatalog:\n  "@x/f": ~1.0.0\n\n  g: 1.0.0-rc.1\nminimumReleaseAge: 0\n`),
      ["root: a ^1.0.0", "root: d latest", "catalog: @x/f ~1.0.0"]
    )
  })

  it("only the program provides the platform, never by the barrel", () => {
    const files = [
      file("packages/a/src/A.ts", `import "@effect/platform-node/NodeServices"`),
      file("apps/cli/src/Runtime.ts", `import "@effect/platform-node/NodeServices"; import "@effect/platform-node"`)
    ]
    assert.deepStrictEqual(Architecture.platform(files), [
      "packages/a/src/A.ts imports @effect/platform-node/NodeServices",
      "apps/cli/src/Runtime.ts imports @effect/platform-node"
    ])
  })

  it("types are not left open outside tests", () => {
    const text = `const any = "any" // any\nlet a: Array<any>\nconst b = a[0]! as unknown as string\n// @ts-ignore\nconst c = Promise.any([])\n`
    assert.deepStrictEqual(Architecture.loose([file("packages/a/src/A.ts", text), file("packages/a/test/A.test.ts", text)]), [
      "packages/a/src/A.ts: `any` in line 2",
      "packages/a/src/A.ts: a cast of a cast in line 3",
      "packages/a/src/A.ts: `!` in line 3",
      "packages/a/src/A.ts: @ts-ignore in line 4"
    ])
  })

  it("every export of a package has a docstring; a type shares its value's", () => {
    const text = `/** Yes. */\nexport const A = 1\nexport type A = typeof A\n// no\nexport class B {}\n/* no */\nexport interface C {}\n`
      + `/** Yes. */\nfunction d() {}\nconst e = 1\nexport { d, e }\nexport * from "./X.ts"\n/** Yes. */\nexport abstract class F {}\nexport function g() {}\n`
    assert.deepStrictEqual(
      Architecture.undocumented([file("packages/a/src/A.ts", text), file("apps/cli/src/A.ts", text)]),
      ["B", "C", "e", "g"].map((name) => `packages/a/src/A.ts: ${name}`)
    )
  })

  it("what the program exports is used by another file of it", () => {
    const files = [
      file("apps/cli/src/A.ts", `export const one = 1\nexport const two = one\nexport class Three {}\nexport type Four = 4\nexport function five() {}`),
      file("apps/cli/src/B.ts", `import { one } from "./A.ts"\nconst three = one`),
      file("apps/cli/test/A.test.ts", `import { five } from "../src/A.ts"`),
      file("packages/a/src/A.ts", `export const six = 6`),
      file("apps/cli/src/C.ts", `export const seven = 7`),
      file("apps/cli/build.ts", `const replaced = "src/C.ts"`)
    ]
    assert.deepStrictEqual(Architecture.unused(files), ["apps/cli/src/A.ts: two", "apps/cli/src/A.ts: Three"])
  })

  it("the top level holds what it should and nothing else", () => {
    const names = "packages apps test package.json tsconfig.json pnpm-workspace.yaml vitest.workspace.ts bootstrap.mjs README.md AGENTS.md .ci .gitignore pnpm-lock.yaml .git node_modules scripts"
    assert.deepStrictEqual(Architecture.topLevel(names.split(" ")), ["scripts does not belong at the top", "LICENSE is missing"])
  })
})

describe("the workspace", () => {
  const walk = (folder: string): ReadonlyArray<string> =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      /^(node_modules|dist|\..*)$/.test(entry.name) ? []
        : entry.isDirectory() ? walk(join(folder, entry.name))
        : [relative(root, join(folder, entry.name)).replaceAll("\\", "/")])
  const paths = [...["packages", "apps", "test"].flatMap((folder) => walk(join(root, folder))), "vitest.workspace.ts"]
  const folders = ["packages", "apps"].flatMap((group) => readdirSync(join(root, group)).filter((name) => existsSync(join(root, group, name, "package.json"))).map((name) => `${group}/${name}`))
  const files = paths.filter((path) => path.endsWith(".ts")).map((path) => file(path, readFileSync(join(root, path), "utf8")))
  const manifests = ["", ...folders].map((folder): Architecture.Manifest =>
    ({ ...JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")), folder }))

  it("arrows between packages go down only", () => assert.deepStrictEqual(Architecture.upward(manifests, files), []))
  it("nothing imports a package's inside", () => assert.deepStrictEqual(Architecture.inside(files, manifests), []))
  it("no files import each other in a ring", () => assert.deepStrictEqual(Architecture.cycles(files), []))
  it("no file is longer than 400 lines", () => assert.deepStrictEqual(Architecture.tooLong(files), []))
  it("no file has a name that says nothing", () => assert.deepStrictEqual(Architecture.vague(paths), []))
  it("every import is declared", () => assert.deepStrictEqual(Architecture.undeclared(manifests, files), []))
  it("every version is exact", () =>
    assert.deepStrictEqual(Architecture.inexact(manifests, readFileSync(join(root, "pnpm-workspace.yaml"), "utf8")), []))
  it("only the program provides the platform", () => assert.deepStrictEqual(Architecture.platform(files), []))
  it("no type is left open", () => assert.deepStrictEqual(Architecture.loose(files), []))
  it("every export of a package has a docstring", () => assert.deepStrictEqual(Architecture.undocumented(files), []))
  it("nothing is exported by the program for nobody", () => assert.deepStrictEqual(Architecture.unused(files), []))
  it("every package has a README", () =>
    assert.deepStrictEqual(folders.filter((folder) => folder.startsWith("packages/") && !existsSync(join(root, folder, "README.md"))), []))
  it("the top level is what it should be", () => assert.deepStrictEqual(Architecture.topLevel(readdirSync(root)), []))
})
