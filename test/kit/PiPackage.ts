/** The examples in npm's package of pi, unpacked into a folder of their own for one test file. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** The release that is driven. */
export const piVersion = "1.6.0"

/** Unpacked examples. */
export interface PiExamples {
  readonly folder: string
  /** The file or folder of an example, by its name. */
  readonly path: (name: string) => string
  readonly names: () => ReadonlyArray<string>
  readonly fetch: () => void
  readonly remove: () => void
}

/** Where they will be; `fetch` brings them. */
export const piExamples = (): PiExamples => {
  const packed = mkdtempSync(join(tmpdir(), "pi-examples-"))
  const folder = join(packed, "package/examples/extensions")
  const silent = { stdio: ["ignore", "pipe", "pipe"] as ["ignore", "pipe", "pipe"] }
  return {
    folder,
    path: (name) => join(folder, readdirSync(folder).includes(`${name}.ts`) ? `${name}.ts` : name),
    names: () => readdirSync(folder).map((name) => name.replace(/\.ts$/, "")).filter((name) => name !== "README.md"),
    fetch: () => {
      execFileSync("npm", ["pack", `@earendil-works/pi-coding-agent@${piVersion}`, "--silent"], { cwd: packed, ...silent })
      execFileSync("tar", ["xzf", readdirSync(packed).find((name) => name.endsWith(".tgz"))!], { cwd: packed })
      execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], { cwd: join(folder, "with-deps"), ...silent })
    },
    remove: () => rmSync(packed, { recursive: true, force: true })
  }
}
