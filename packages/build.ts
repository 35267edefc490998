/**
 * Builds the packages as libraries: `dist` in each gets JavaScript and types, for a program that has no TypeScript or strips
 * none below `node_modules`. Inside the workspace the sources are used as they stand.
 *
 *     node packages/build.ts [NAME]…
 */
import { execFileSync } from "node:child_process"
import { cpSync, existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const folder = import.meta.dirname
const all = readdirSync(folder).filter((name) => existsSync(join(folder, name, "package.json")))
const names = process.argv.length > 2 ? process.argv.slice(2) : all
const root = join(folder, "..")

// All in one go: packages see each other's sources, and the compiler emits each file once.
const work = mkdtempSync(join(root, "node_modules/.libraries-"))
try {
  const out = join(work, "out")
  writeFileSync(join(work, "tsconfig.json"), JSON.stringify({
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      noEmit: false, declaration: true, rewriteRelativeImportExtensions: true, incremental: false, composite: false, tsBuildInfoFile: null,
      rootDir: folder, outDir: out, plugins: [], types: ["node"], typeRoots: [join(root, "node_modules/@types")]
    },
    include: all.map((name) => join(folder, name, "src"))
  }))
  execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", join(work, "tsconfig.json")], { cwd: root, stdio: "inherit" })
  // The compiler rewrites what JavaScript imports, and leaves the types to their reader.
  for (const file of globSync("**/*.d.ts", { cwd: out })) {
    const text = readFileSync(join(out, file), "utf8")
    writeFileSync(join(out, file), text.replaceAll(/((?:from|import)\s*\(?\s*"\.[^"]*)\.ts"/g, "$1.js\""))
  }
  for (const name of names) {
    const dist = join(folder, name, "dist")
    rmSync(dist, { recursive: true, force: true })
    cpSync(join(out, name, "src"), dist, { recursive: true })
  }
} finally {
  rmSync(work, { recursive: true, force: true })
}
