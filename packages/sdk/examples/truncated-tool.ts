/**
 * A tool that wraps ripgrep and never floods the conversation: the model is given what fits, and told where the rest is.
 *
 *     nimlet -e truncated-tool.ts
 */
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { DEFAULT_MAX_BYTES, DEFAULT_MAX_LINES, formatSize, truncateHead, type TruncationResult } from "@bastani/atomic"

interface Result {
  readonly content: ReadonlyArray<{ readonly type: "text"; readonly text: string }>
  readonly details: { readonly matches: number; readonly truncation?: TruncationResult; readonly fullOutputPath?: string }
}

/** What of the API is used here. */
interface Api {
  readonly exec: (command: string, args: ReadonlyArray<string>, options: { readonly signal?: AbortSignal | undefined; readonly cwd: string }) => Promise<{
    readonly stdout: string
    readonly stderr: string
    readonly code: number
  }>
  readonly registerTool: (tool: {
    readonly name: string
    readonly label: string
    readonly description: string
    readonly promptSnippet: string
    readonly parameters: object
    readonly execute: (id: string, params: { readonly pattern: string; readonly path?: string }, signal: AbortSignal | undefined, onUpdate: unknown, ctx: { readonly cwd: string }) => Promise<Result>
  }) => void
}

const text = (words: string) => [{ type: "text" as const, text: words }]

/** Registers the tool `rg`. */
export default function(pi: Api): void {
  pi.registerTool({
    name: "rg",
    label: "ripgrep",
    // The model has to know what it may expect.
    description: `Searches files with ripgrep. At most ${DEFAULT_MAX_LINES} lines or ${formatSize(DEFAULT_MAX_BYTES)} come back; all of a longer output is in a file, whose path is told.`,
    promptSnippet: "search files with ripgrep",
    parameters: {
      type: "object",
      properties: { pattern: { type: "string", description: "a regular expression" }, path: { type: "string", description: "default: the working folder" } },
      required: ["pattern"],
      additionalProperties: false
    },
    async execute(_id, { path = ".", pattern }, signal, _onUpdate, ctx) {
      // Some models put an @ before paths.
      const place = resolve(ctx.cwd, path.replace(/^@/, ""))
      const { code, stderr, stdout } = await pi.exec("rg", ["--line-number", "--no-heading", "--color=never", "--", pattern, place], { signal, cwd: ctx.cwd })
      if (code > 1) throw new Error(stderr.trim() || `rg ended with code ${code}`)
      if (stdout === "") return { content: text("No matches."), details: { matches: 0 } }
      const truncation = truncateHead(stdout)
      const matches = truncation.totalLines
      if (!truncation.truncated) return { content: text(truncation.content), details: { matches } }
      const fullOutputPath = join(mkdtempSync(join(tmpdir(), "rg-")), "output.txt")
      writeFileSync(fullOutputPath, stdout, { mode: 0o600 })
      const { outputBytes, outputLines, totalBytes, totalLines } = truncation
      const note = `[Shown: ${outputLines} of ${totalLines} lines, ${formatSize(outputBytes)} of ${formatSize(totalBytes)}. All of it is in ${fullOutputPath}]`
      return { content: text(`${truncation.content}\n\n${note}`), details: { matches, truncation, fullOutputPath } }
    }
  })
}
