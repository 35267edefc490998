/** Runs a command of the person's where an extension says (`operations` of a `user_bash` result): another machine, a container. */
import type { Session } from "./Session.ts"
import type { BashOperations } from "./tools/Operations.ts"
import type { Callback } from "./Values.ts"

/** What the host calls to have the command run: its output goes out as it comes, its code is the answer. */
export const commandRunner = ({ calls, wire }: Session, operations: BashOperations, command: string, cwd: string): Callback => async () => {
  const call = calls.current
  const decoder = new TextDecoder()
  const say = (content: string): void => {
    if (content !== "") wire.send({ type: "tool_update", id: call?.id, content })
  }
  const { exitCode } = await operations.exec(command, cwd, {
    onData: (data) => say(decoder.decode(data, { stream: true })),
    signal: call?.signal,
    env: { ...process.env }
  })
  say(decoder.decode())
  return { exit_code: exitCode }
}
