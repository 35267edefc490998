/** Opens the connection to an extension: a child process in the product, a scripted peer in tests. */
import { Context, type Effect, type Scope } from "effect"
import type { FamilyPolicy } from "./FamilyPolicy.ts"
import type { StartFailed } from "./ExtensionError.ts"
import type { Transport } from "./Transport.ts"

/** What is needed to bring an extension to life. */
export interface Launch {
  /** Its key, used in errors and for its log. */
  readonly extension: string
  /** How its family runs. */
  readonly runsAs: FamilyPolicy["runsAs"]
  /** From the manifest. Of one that runs as a thread: its module's absolute path. */
  readonly command: readonly [string, ...Array<string>]
  /** Folder of the manifest: a program named with a slash is found from here. */
  readonly folder: string
  /** Absolute path, the working directory. */
  readonly workspace: string
  /** The whole environment. */
  readonly environment: Readonly<Record<string, string>>
  /** Folder for its log file. */
  readonly logs: string
  readonly maxLineBytes?: number | undefined
}

/** How extensions are brought to life; called anew for every life. Closing the scope ends what was launched. */
export class Launcher extends Context.Service<Launcher, {
  readonly open: (launch: Launch) => Effect.Effect<Transport, StartFailed, Scope.Scope>
}>()("@nimlet/extension/Launcher") {}
