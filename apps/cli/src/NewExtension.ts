/** A small extension to begin with: a program of one file that says hello and guards calls. */
import { Effect, FileSystem, Path, Schema } from "effect"

/** Nothing was made. */
class ExtensionNotMade extends Schema.TaggedError<ExtensionNotMade>()("ExtensionNotMade", { name: Schema.String, why: Schema.String }) {
  override get message(): string {
    return `No extension '${this.name}' was made: ${this.why}`
  }
}

const shape = /^[A-Za-z][\w-]{0,39}$/

const program = (name: string): string => `#!/usr/bin/env node
// An extension is a program: what nimlet says comes in as lines of JSON, what it says goes out the same way.
import { createInterface } from "node:readline"

const send = (message) => console.log(JSON.stringify(message))

// The first line says what it offers: commands, tools, and the events it wants to hear.
send({ type: "register", commands: [{ name: "${name}", description: "Say hello" }], events: ["tool_call"] })

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line)
  if (message.type === "command") {
    send({ type: "response", id: message.id, message: \`Hello from ${name}. \${message.arguments}\`.trim() })
  }
  if (message.type === "event" && message.event === "tool_call") {
    // Each call of the model comes by here before it runs. \`allow: false\` blocks it, \`arguments\` changes it.
    const { command = "" } = message.payload.arguments
    const dangerous = /\\brm\\s+-\\w*r\\w*f|\\brm\\s+-\\w*f\\w*r/.test(command)
    send({ type: "response", id: message.id, ...(dangerous ? { allow: false, reason: "${name} lets nobody remove whole folders" } : {}) })
  }
  if (message.type === "shutdown") process.exit(0)
}
`

/** Makes the folder of an extension in `root` and gives its path. A folder that is there already is left alone. Fails with `ExtensionNotMade`. */
export const makeExtension = Effect.fnUntraced(function*(root: string, name: string): Effect.fn.Return<string, ExtensionNotMade, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  if (!shape.test(name)) return yield* new ExtensionNotMade({ name, why: "a name begins with a letter and has letters, digits, - and _, 40 at most" })
  const folder = path.join(root, name)
  const failed = Effect.mapError((error: { readonly message: string }) => new ExtensionNotMade({ name, why: error.message }))
  if (yield* failed(fs.exists(folder))) return yield* new ExtensionNotMade({ name, why: `${folder} is there already` })
  yield* failed(fs.makeDirectory(folder, { recursive: true }))
  yield* failed(fs.writeFileString(path.join(folder, "main.mjs"), program(name), { mode: 0o755 }))
  yield* failed(fs.writeFileString(path.join(folder, "extension.json"), `${JSON.stringify({ name, command: ["./main.mjs"] }, null, 2)}\n`))
  return folder
})
