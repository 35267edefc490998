/** `ask_user`: a multiple-choice question to the person in front. */
import { Context, Effect } from "effect"
import { textArgument } from "./Arguments.ts"
import { errorResult, textResult } from "./Tool.ts"
import type { Tool, ToolResult } from "./Tool.ts"

/** A question and what can be answered. */
export interface UserQuestion {
  readonly prompt: string
  readonly options: ReadonlyArray<string>
}

/** What became of a question; `unavailable` when nobody can be asked. */
export type UserAnswer =
  | { readonly outcome: "answered"; readonly answer: string }
  | { readonly outcome: "dismissed" | "unavailable" }

/** Whoever can put a question to the person. It waits as long as the person needs; interrupting it withdraws the question. */
export class Asker extends Context.Service<Asker, {
  readonly ask: (question: UserQuestion) => Effect.Effect<UserAnswer>
}>()("@nimlet/tools/Asker") {}

const resultOf = (answer: UserAnswer): ToolResult => {
  switch (answer.outcome) {
    case "answered":
      return textResult(answer.answer)
    case "dismissed":
      return errorResult("The user dismissed the question.")
    case "unavailable":
      return errorResult("User questions are unavailable in this interface.")
  }
}

/** The `ask_user` tool. */
export const askUserTool: Tool<Asker> = {
  name: "ask_user",
  description: "Ask the user a multiple-choice question; gives the option chosen.",
  inputSchema: {
    type: "object",
    properties: {
      question: { type: "string", minLength: 1 },
      options: { type: "array", items: { type: "string", minLength: 1 }, minItems: 1 }
    },
    required: ["question", "options"],
    additionalProperties: false
  },
  capabilities: ["user"],
  run: Effect.fnUntraced(function*(args) {
    const options = Array.isArray(args["options"]) ? args["options"].filter((option) => typeof option === "string") : []
    const { ask } = yield* Asker
    return resultOf(yield* ask({ prompt: textArgument(args, "question") ?? "", options }))
  })
}
