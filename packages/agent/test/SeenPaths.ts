/** What a shell command is seen to do to protected files, as the program's own folders have it. */
import * as grammar from "unbash"
import { mayBeProtected } from "../src/ProtectedPaths.ts"
import { pathsIn } from "../src/Shell/Paths.ts"

const roots = [".agents/extensions", ".nimlet/extensions", ".niminal/extensions", ".atomic/agent/extensions", ".pi/agent/extensions", ".atomic/extensions", ".pi/extensions"]

/** Whether a command changes a protected file, names one where it may be changed, or does nothing to one. */
export const seen = (source: string): "changes" | "names" | "nothing" => {
  const { named, placed, written } = pathsIn(grammar, source)
  const some = (words: ReadonlySet<string>, whole: boolean) => [...words].some((word) => mayBeProtected(word, roots, whole))
  return some(written, false) || some(placed, true) ? "changes" : some(named, true) ? "names" : "nothing"
}
