/** The report of `extension list` for people. Pure. */
import type { ExtensionReport, ListedExtension, Skipped } from "./ExtensionReport.ts"

/** A text with its paths as a person writes them: `~` for the home. */
export const atHome = (text: string, home: string): string => home.length > 1 ? text.replaceAll(`${home}/`, "~/") : text

/** Words of an extension may hold anything; on a terminal they stay words. */
const plain = (text: string): string => text.replaceAll(/\s+/g, " ").replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "")

const list = (label: string, items: ReadonlyArray<string>): ReadonlyArray<string> => items.length === 0 ? [] : [`  ${label.padEnd(10)}${items.map(plain).join(", ")}`]

interface Offered {
  readonly left_out?: string
  readonly overridden_by?: string
}

const troubles = (kind: string, items: ReadonlyArray<Offered & { readonly shown: string }>): ReadonlyArray<string> =>
  items.flatMap(({ left_out, overridden_by, shown }) =>
    overridden_by !== undefined ? [`  ! ${kind} ${plain(shown)} is ${plain(overridden_by)}'s, which offers it too`]
    : left_out !== undefined ? [`  ! ${kind} ${plain(shown)} is left out: ${plain(left_out)}`]
    : [])

const inForce = <A extends Offered>(items: ReadonlyArray<A>) => items.filter(({ left_out, overridden_by }) => left_out === undefined && overridden_by === undefined)

const block = (one: ListedExtension): string => {
  const time = one.start_ms === null ? "" : `, started in ${Math.round(one.start_ms)} ms`
  const tools = one.tools.map((tool) => ({ ...tool, shown: tool.name }))
  const commands = one.commands.map((command) => ({ ...command, shown: `/${command.name}` }))
  const modes = one.modes.map((mode) => ({ ...mode, shown: mode.id }))
  const providers = one.providers.map((provider) => ({ ...provider, shown: provider.name }))
  return [
    `${plain(one.key)}: ${one.state}${time}`,
    ...(one.fault === null ? [] : [`  ! ${plain(one.fault)}`]),
    ...(one.key === one.name ? [] : [`  ! it is not the first of the name ${plain(one.name)}: its log, records and widgets go by ${plain(one.key)}`]),
    ...list("from", [`${one.folder} (${one.family}${one.root === null ? ", by -e" : one.project ? ", of this project" : ""})`]),
    ...list("command", [one.command.join(" ")]),
    ...(one.fault === null ? [] : list("log", [one.logged ? one.log : "it wrote nothing to stderr"])),
    ...list("tools", inForce(tools).map(({ capabilities, name }) => `${name} (${capabilities.join(" ")})`)),
    ...list("commands", inForce(commands).map(({ shown }) => shown)),
    ...list("events", one.events.filter(({ never_fires }) => never_fires === undefined).map(({ name }) => name)),
    ...list("modes", inForce(modes).map(({ id, label }) => `${id} (${label})`)),
    ...list("providers", inForce(providers).map(({ default_model, name }) => `${name} (${default_model})`)),
    ...troubles("tool", tools),
    ...troubles("command", commands),
    ...one.events.filter(({ never_fires }) => never_fires === true).map(({ name }) => `  ! event ${plain(name)} never fires: there is no such event`),
    ...troubles("mode", modes),
    ...troubles("provider", providers)
  ].join("\n")
}

const skippedLines = (skipped: ReadonlyArray<Skipped>): ReadonlyArray<string> =>
  skipped.map(({ count, name, path, why }) => {
    const what = count === undefined ? "" : ` (${count} extension${count === 1 ? "" : "s"})`
    return `  ${name === undefined ? "" : `${plain(name)}, `}${plain(path)}${what}: ${plain(why)}`
  })

/** The whole report, ending with what it comes to. */
export const extensionText = (report: ExtensionReport, home: string): string => {
  const { extensions, missing, skipped, warnings } = report
  const failed = extensions.filter(({ fault, state }) => fault !== null || state !== "running").length + skipped.filter(({ what }) => what === "manifest").length
  const running = extensions.filter(({ state }) => state === "running").length
  const parts = [
    ...extensions.map((one) => block(one)),
    ...(skipped.length === 0 ? [] : [["Not started:", ...skippedLines(skipped)].join("\n")]),
    ...(missing.length === 0 ? [] : [["Required, and not running:", ...missing.map(({ extension, reason }) => `  ${plain(extension)}: ${plain(reason)}`)].join("\n")]),
    ...(warnings.length === 0 ? [] : [["Warnings:", ...warnings.map((sentence) => `  ${plain(sentence)}`)].join("\n")]),
    extensions.length === 0 && skipped.length === 0
      ? "No extensions. They live in ~/.nimlet/extensions/NAME, each with an extension.json."
      : `${running} of ${extensions.length} run${failed > 0 ? `; ${failed} could not start` : missing.length > 0 ? "; a required one does not" : ""}.`
  ]
  return atHome(`${parts.join("\n\n")}\n`, home)
}
