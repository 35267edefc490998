/** How extensions do, in lines for a person. Pure. */
import type { ExtensionFigures } from "@nimlet/extension"

const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`

const line = ({ family, fault, hookMillis, key, pid, registration, requests, restarts, startMillis, state }: ExtensionFigures): string => {
  const facts = [
    state.toLowerCase(),
    family.name,
    ...(pid === undefined ? [] : [`process ${pid}`]),
    ...(startMillis === undefined ? [] : [`started in ${Math.round(startMillis)} ms`]),
    ...(registration === undefined ? [] : [counted(registration.tools.length, "tool"), counted(registration.commands.length, "command"), counted(registration.events.length, "event")]),
    ...(restarts === 0 ? [] : [counted(restarts, "restart")]),
    ...(requests.failed === 0 ? [] : [counted(requests.failed, "failed request")]),
    ...(hookMillis === undefined ? [] : [`hooks ${Math.round(hookMillis.p50)} ms, slowest twentieth ${Math.round(hookMillis.p95)} ms`])
  ]
  return `${key}: ${facts.join(", ")}${fault === undefined ? "" : `; ${fault}`}`
}

/** One line an extension, in startup order. */
export const extensionList = (figures: ReadonlyArray<ExtensionFigures>): string =>
  figures.length === 0 ? "No extension is running." : figures.map(line).join("\n")
