import { startNimlet } from "@nimlet/sdk"

await using nimlet = await startNimlet({ args: ["--provider", "offline", "--no-session"] })
nimlet.onRecord((record) => {
  if (record.type === "tool_call") console.log(`calls ${record.tool_name}`)
})
const { error, success, text } = await nimlet.prompt("read package.json")
console.log(success ? text : `failed: ${error}`)
