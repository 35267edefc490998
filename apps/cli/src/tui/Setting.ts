/** The settings that `/settings` shows and changes. Pure. */
import { thinkingLevels } from "@nimlet/provider"
import { themeChoices } from "./Palette.ts"

/** A setting of a person. */
export interface Setting {
  /** Its key in the file, with dots. */
  readonly key: string
  readonly about: string
  /** What it may be; `model` is one of the models that are known, `number` and `text` are typed. */
  readonly takes: ReadonlyArray<string> | "model" | "number" | "text"
  /** What holds where nothing is said. */
  readonly usual: string
  /** Whether it holds at once, and not from the next start on. */
  readonly atOnce?: true
}

const onOff = ["true", "false"]
const queues = ["one-at-a-time", "all"]

/** In the order in which they are shown. */
export const screenSettings: ReadonlyArray<Setting> = [
  { key: "default_model", about: "who answers at the start, and its provider", takes: "model", usual: "of the first provider with a key" },
  { key: "agent.thinking", about: "how much it thinks", takes: thinkingLevels, usual: "as the model does by itself", atOnce: true },
  { key: "theme", about: "colours for which ground", takes: themeChoices, usual: "auto", atOnce: true },
  { key: "mouse", about: "clicks on what extensions show", takes: onOff, usual: "true" },
  { key: "screen_reader", about: "words in place of marks, nothing that moves", takes: onOff, usual: "false" },
  { key: "agent.steering_mode", about: "how many queued messages go along with a step", takes: queues, usual: "one-at-a-time" },
  { key: "agent.follow_up_mode", about: "how many go along when a run would end", takes: queues, usual: "one-at-a-time" },
  { key: "agent.compaction_enabled", about: "sum up a conversation that fills the window", takes: onOff, usual: "true" },
  { key: "agent.reserve_tokens", about: "tokens of the window that are kept free", takes: "number", usual: "16384" },
  { key: "agent.keep_recent_tokens", about: "tokens that are never summed up", takes: "number", usual: "20000" },
  { key: "agent.context_window", about: "tokens that the model can hold", takes: "number", usual: "what is known of the model" },
  { key: "agent.max_tokens", about: "tokens that an answer may have", takes: "number", usual: "what the model allows" },
  { key: "agent.max_steps", about: "requests to the model that a prompt may take", takes: "number", usual: "any number" },
  { key: "agent.request_timeout", about: "seconds without a word after which a request fails", takes: "number", usual: "300" },
  { key: "agent.session_dir", about: "where sessions are kept", takes: "text", usual: "~/.nimlet/sessions" },
  { key: "tools.bash.max_output_bytes", about: "bytes of a command's output that the model is shown", takes: "number", usual: "51200" },
  { key: "extensions.families.nimlet", about: "extensions of ~/.nimlet and ~/.agents", takes: onOff, usual: "true" },
  { key: "extensions.families.niminal", about: "extensions of ~/.niminal", takes: onOff, usual: "true" },
  { key: "extensions.families.atomic", about: "extensions of ~/.atomic and ~/.pi", takes: onOff, usual: "true" }
]

/** The setting of a key, in any case. */
export const settingNamed = (key: string): Setting | undefined => screenSettings.find((one) => one.key === key.toLowerCase())

/** The word that takes a setting out of the file again. */
export const usualWord = "usual"

/** What a word means as a value: undefined for the usual one. */
export const valueOf = ({ takes }: Setting, word: string): unknown => {
  if (word === usualWord) return undefined
  if (takes === "number") return word.trim() === "" || Number.isNaN(Number(word)) ? word : Number(word)
  return takes === onOff && onOff.includes(word) ? word === "true" : word
}
