/** The report of `doctor` for people. Pure. */
import type { DoctorReport } from "./DoctorReport.ts"
import { atHome } from "./ExtensionText.ts"

const plain = (text: string): string => text.replaceAll(/\s+/g, " ").replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "")
const row = (label: string, text: string): string => `  ${label.padEnd(11)} ${plain(text)}`
const section = (title: string, rows: ReadonlyArray<string>): ReadonlyArray<string> => rows.length === 0 ? [] : [[title, ...rows].join("\n")]

const marks = { error: "error  ", warning: "warning", note: "note   " } as const

/** The whole report: what is set up how, then what is wrong and what helps. */
export const doctorText = (report: DoctorReport, home: string): string => {
  const place = ({ exists, path }: { readonly exists: boolean; readonly path: string }) => `${path}${exists ? "" : " (not there)"}`
  const { extensions, findings, model, paths, programs, project_settings: project, roots, settings, started, terminal } = report
  const key = model.key_from === null ? "no key" : model.key_from === "flag" ? "key from --api-key" : `key from ${model.key_from}`
  const parts = [
    ...section(`nimlet ${report.version}`, [
      row("node", `${report.node} on ${report.platform}`),
      row("workspace", `${report.workspace}${report.trusted ? ", trusted in this run" : ", not trusted"}`)
    ]),
    ...section("Model", [
      model.provider === null
        ? row("none", model.problem ?? "")
        : row(model.provider, [model.model ?? "its default model, when the extension that offers it has started", ...(model.endpoint === null ? [] : [model.endpoint, key])].join(", "))
    ]),
    ...section("Files", [
      row("config", place(paths.config)),
      ...(project === null ? [] : [row("project", `${project.path}${project.in_force ? "" : " (not in force)"}`)]),
      row("auth", place(paths.auth)),
      row("sessions", place(paths.sessions)),
      row("logs", place(paths.logs))
    ]),
    ...section("Settings in force", settings.in_force.map(({ key, value }) => `  ${plain(key)}${value === "" ? "" : ` = ${plain(value)}`}`)),
    ...section("Folders of extensions", roots.map(({ exists, extensions, family, path, searched }) =>
      row(family, `${path}: ${!exists ? "not there" : `${extensions} extension${extensions === 1 ? "" : "s"}${searched ? "" : ", not searched"}`}`))),
    ...section(started === null ? "Extensions (found, not started; --start starts them)" : "Extensions", extensions.map((one) => {
      const figures = started?.extensions.find(({ key }) => key === one.key)
      const state = figures === undefined ? "" : `, ${figures.state}${figures.start_ms === null ? "" : ` after ${Math.round(figures.start_ms)} ms`}`
      return row(one.key, `${one.folder} (${one.family})${state}`)
    })),
    ...section("Programs", programs.map(({ name, path }) => row(name, path === null ? "not found" : path))),
    ...section("Terminal", [
      row("input", terminal.input ? "a terminal" : "not a terminal"),
      row("output", terminal.output ? `a terminal (${terminal.type === "" ? "TERM is not set" : terminal.type})${terminal.colours ? ", colours" : ", no colours"}` : "not a terminal"),
      row("editor", terminal.editor ?? "none (VISUAL and EDITOR are not set)")
    ]),
    ...section("Findings", findings.flatMap(({ level, remedy, what }) => [`  ${marks[level]} ${plain(what)}`, `          ${plain(remedy)}`])),
    report.ok ? (findings.length === 0 ? "All is well." : "Nothing is broken.") : "Something is broken."
  ]
  return atHome(`${parts.join("\n\n")}\n`, home)
}
