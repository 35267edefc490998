/** Gives a whole test run a home and a temp folder of its own, so that no test can touch the person's. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** What a developer may have set and no test may see: keys, other endpoints, our own settings, git's environment. */
const withheld = /^(NIMLET_|NIMINAL_|GIT_|XDG_|AI_GATEWAY_)|_API_KEY$|^(ANTHROPIC|OPENAI|GOOGLE|MISTRAL|OPENROUTER)_/

const setup = (): (() => void) | undefined => {
  // Vitest calls this once a project; the first call is for all of them.
  if (process.env["NIMLET_TEST_RUN"] !== undefined) return undefined
  const folder = mkdtempSync(join(tmpdir(), "nimlet-test-"))
  const made = (name: string): string => {
    const path = join(folder, name)
    mkdirSync(path)
    return path
  }
  for (const name of Object.keys(process.env)) if (withheld.test(name)) delete process.env[name]
  const home = made("home")
  const temp = made("tmp")
  Object.assign(process.env, {
    HOME: home, USERPROFILE: home, TMPDIR: temp, TMP: temp, TEMP: temp, GIT_CONFIG_NOSYSTEM: "1", NIMLET_TEST_RUN: folder
  })
  return () => {
    delete process.env["NIMLET_TEST_RUN"]
    rmSync(folder, { recursive: true, force: true })
  }
}

export default setup
