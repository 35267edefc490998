/**
 * Tells whether ignore rules hide what is looked for. Only asked when little or nothing was found, and only for half a
 * second: one hidden file is enough to know.
 */
import { Effect, Option } from "effect"
import { gather, makeRecords } from "./Gather.ts"
import type { ProcessExit, ProcessRequest } from "./Operations.ts"

const LOOK_MILLIS = 500
const NUL = 0

/** With fewer results than this a second look is worth its time. */
export const FEW_RESULTS = 5

/** A path as ripgrep printed it, without its leading `./`. */
export const plainPath = (path: string): string => path.startsWith("./") ? path.slice(2) : path

/** What the look is for. `run` starts ripgrep without ignore rules; it prints paths, each followed by a zero byte. */
export interface IgnoredLook<E> {
  readonly run: (onOutput: ProcessRequest["onOutput"]) => Effect.Effect<ProcessExit, E>
  /** Whether a plain path would be a result. */
  readonly wanted: (path: string) => boolean
  /** Plain paths found within the ignore rules. */
  readonly known: ReadonlySet<string>
}

/** The first wanted path that ignore rules hide, none when there is none; undefined when the time was too short to know. */
const firstHidden = Effect.fnUntraced(function*<E>({ known, run, wanted }: IgnoredLook<E>) {
  let hidden: string | undefined
  const records = makeRecords(NUL, (record) => {
    const path = plainPath(record)
    if (hidden === undefined && wanted(path) && !known.has(path)) hidden = path
    return hidden === undefined
  })
  const looked = yield* gather("ripgrep", run, records.push).pipe(Effect.option, Effect.timeoutOption(LOOK_MILLIS))
  return Option.isSome(Option.flatten(looked)) || hidden !== undefined ? Option.some(Option.fromUndefinedOr(hidden)) : Option.none()
})

/** A sentence on what ignore rules hide; empty when they hide nothing. */
export const ignoredNote = <E>(look: IgnoredLook<E>): Effect.Effect<string> =>
  Effect.map(firstHidden(look), Option.match({
    onNone: () => "There was no time to look into ignored files; include_ignored does.",
    onSome: Option.match({
      onNone: () => "",
      onSome: (path) => `Ignored files match, e.g. ${path}; include_ignored shows them.`
    })
  }))
