/** Print mode: the final answer alone on standard output; what went wrong on standard error. */
import { Effect } from "effect"
import { headless } from "@nimlet/extension"
import type { Output } from "../Output.ts"
import type { Mode } from "./Mode.ts"

/** A text with exactly one newline at its end. */
export const asLines = (text: string): string => text.endsWith("\n") ? text : `${text}\n`

/** Print mode over our output. There is nobody to ask. */
export const printMode = (output: Output["Service"]): Mode => ({
  name: "print",
  sink: {
    publish: (event) => {
      switch (event.type) {
        case "error":
          return output.err(asLines(`error: ${event.message}`))
        case "diagnostic":
          return output.err(asLines(event.level === "info" ? event.message : `${event.level}: ${event.message}`))
        default:
          return Effect.void
      }
    }
  },
  frontend: {
    ...headless,
    notify: (level, message) => level === "info" ? Effect.void : output.err(asLines(`${level}: ${message}`))
  },
  notice: (text) => output.err(asLines(text)),
  opened: () => Effect.void,
  switched: () => Effect.void,
  refused: () => Effect.void,
  closed: (_, { text }) => text === "" ? Effect.void : output.out(asLines(text))
})
