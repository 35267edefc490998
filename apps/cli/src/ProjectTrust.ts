/** Whether the files of the project we were started in are loaded: how it is asked, what is said when they are not. */
import { Effect, FileSystem, Path } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import { makeTrust, type ProjectChange, type Trust, type TrustAnswer } from "@nimlet/agent"
import { families } from "@nimlet/extension"
import { evidentLine } from "./Evident.ts"
import type { Invocation } from "./Flags.ts"
import type { Host } from "./Host.ts"
import type { Mode } from "./modes/Mode.ts"
import { trustAdvice } from "./TrustAdvice.ts"

/** What is told when files of the project are left out. */
export const skippedNotice = "Project-local resources skipped (use --approve or /trust on)."

/** Ways of running in which a person is asked. */
const asking: ReadonlySet<string> = new Set(["text", "tui"])
/** So many files are named in the question. */
const most = 20

const load = "load them, now and until one of them changes"
const leave = "leave them out"

/** The question about files that no yes covers. Pure. */
const trustQuestion = (workspace: string, changes: ReadonlyArray<ProjectChange>): string => {
  const rows = changes.slice(0, most).map(({ change, path }) => `\n  ${change.padEnd(7)}  ${evidentLine(path)}`).join("")
  const more = changes.length > most ? `\n  and ${changes.length - most} more` : ""
  return `Files of this project can run programs and tell the model what to do. Load them?\n  ${evidentLine(workspace)}${rows}${more}`
}

type Services = FileSystem.FileSystem | Path.Path | ChildProcessSpawner.ChildProcessSpawner

const rootsOfProject: ReadonlyArray<string> = [...new Set(families.flatMap(({ projectRoots }) => projectRoots))]

/**
 * Trust in the project of `workspace`, a real path. Without a `mode` nothing is asked; otherwise the person's own modules are,
 * and where they leave it open the person, if one is there.
 */
export const projectTrust = Effect.fnUntraced(function*(
  invocation: Invocation,
  host: Host,
  workspace: string,
  mode?: Mode
): Effect.fn.Return<Trust, never, Services> {
  const services = yield* Effect.context<Services>()
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const answer = invocation.approve ? true : invocation.noApprove ? false : undefined
  const askPerson = ({ frontend }: Mode, changes: ReadonlyArray<ProjectChange>) =>
    Effect.map(frontend.question({ asker: "nimlet", prompt: trustQuestion(workspace, changes), options: [leave, load] }), (given): TrustAnswer | undefined =>
      given.cancelled ? undefined : { trusted: given.answer === load, remember: true })
  const ask = (mode: Mode, changes: ReadonlyArray<ProjectChange>) => {
    const canAsk = mode.frontend.interactive && asking.has(mode.name)
    return trustAdvice({ invocation, host, workspace, mode, ...(canAsk ? { frontend: mode.frontend } : {}) }).pipe(
      Effect.flatMap((advice) => advice === undefined && canAsk ? askPerson(mode, changes) : Effect.succeed(advice)),
      Effect.provideContext(services)
    )
  }
  return yield* makeTrust({
    file: path.join(host.home, ".nimlet", "trust.json"),
    home: yield* Effect.orElseSucceed(fs.realPath(host.home), () => host.home),
    workspace,
    extensions: rootsOfProject,
    ...(answer === undefined ? {} : { answer }),
    ...(mode === undefined ? {} : { ask: ({ changes }) => ask(mode, changes) })
  })
})
