import { Extension } from "@nimlet/sdk"
import { Effect, Schema } from "effect"

export default Extension.define({
  name: "deploys",
  tools: {
    deploy: {
      description: "Deploys the project.",
      input: Schema.Struct({ environment: Schema.Literals(["staging", "production"]) }),
      capabilities: ["network"],
      // An effect: a cancelled call interrupts it.
      run: ({ environment }, { confirm, progress }) =>
        Effect.gen(function*() {
          if (environment === "production" && !(yield* confirm("Deploy to production?"))) return { content: "The user said no.", is_error: true }
          yield* progress(`deploying to ${environment}\n`)
          yield* Effect.sleep("1 second")
          return { content: `Deployed to ${environment}.`, details: { environment } }
        })
    }
  },
  commands: {
    // A promise does, too; `run` makes one of an effect.
    stage: { description: "deploy to staging", run: async (note, { notify, run }) => {
      await run(notify(`staging ${note}`))
      return { prompt: "Deploy to staging." }
    } }
  },
  hooks: {
    tool_call: ({ arguments: { command }, tool }) =>
      tool === "bash" && String(command).includes("kubectl") ? { allow: false, reason: "use the tool deploy" } : undefined
  }
})
