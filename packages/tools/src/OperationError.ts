/** What can go wrong below the tools. Each `message` is a text the model reads. */
import { Schema } from "effect"

/** The path leads out of the workspace, by itself or through a link. */
export class PathOutside extends Schema.TaggedError<PathOutside>()("PathOutside", { path: Schema.String }) {
  override get message(): string {
    return `path is outside the workspace: ${this.path}`
  }
}

/** A file or folder could not be used; `reason` is a few words such as `no such file or directory`. */
export class FileFailed extends Schema.TaggedError<FileFailed>()("FileFailed", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `${this.path}: ${this.reason}`
  }
}

/** A program could not be started or watched; `missing` when there is no such program. */
export class ProcessFailed extends Schema.TaggedError<ProcessFailed>()("ProcessFailed", {
  command: Schema.String,
  reason: Schema.String,
  missing: Schema.Boolean
}) {
  override get message(): string {
    return this.missing ? `${this.command} is not installed, or not on the PATH` : `${this.command} failed: ${this.reason}`
  }
}

/** Neither the bundled ripgrep nor one on the PATH can be run. */
export class RipgrepMissing extends Schema.TaggedError<RipgrepMissing>()("RipgrepMissing", {}) {
  override get message(): string {
    return "ripgrep was not found. Install it so that `rg` is on the PATH (package `ripgrep` of most systems), or add the npm package @vscode/ripgrep beside nimlet. Until then use bash with grep and find."
  }
}
