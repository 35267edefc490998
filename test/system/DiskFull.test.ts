/**
 * A session on a disk that is really full, or lets nothing be written: a small one of its own for the program, in a mount
 * namespace. Its files are seen through the process (`/proc/PID/root`).
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { chmod, mkdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { startRpc } from "../kit/RpcDriver.ts"
import { makeWorkspace, project, type Workspace } from "../kit/Workspace.ts"

/** More than one page of the disk: not all of it fits where a page is left. */
const long = `A long answer. ${"Word after word ☃ ".repeat(600)}The end.`
const steps = (...texts: ReadonlyArray<string>) => JSON.stringify({ steps: texts.map((text) => ({ text })) })
const sessions = (space: Workspace) => join(space.root, "disk")

/** A program that runs nimlet with its sessions on a disk of 64 KiB; `before` is done with it first, `after` when nimlet has ended. */
const onDisk = async (space: Workspace, { after = "", before = "", mount = "size=64k" }: { readonly after?: string; readonly before?: string; readonly mount?: string } = {}) => {
  await mkdir(sessions(space))
  await space.file("~/.nimlet/config.json", JSON.stringify({ agent: { session_dir: sessions(space) } }))
  const inside = await space.file("inside.sh", `set -e\nmount -t tmpfs -o ${mount} tmpfs ${sessions(space)}\n${before}\n${after === "" ? "exec" : "set +e\n"} "$@"\n${after === "" ? "" : `code=$?\n${after}\nexit $code`}\n`)
  const bundle = process.env["NIMLET_BIN"] ?? join(project, "apps/cli/dist/nimlet.mjs")
  const bin = await space.file("on-disk", `#!/bin/sh\nexec unshare --mount --map-root-user sh "${inside}" "${process.execPath}" "${bundle}" "$@"\n`)
  await chmod(bin, 0o755)
  return bin
}

const fill = (file: string) => {
  for (const size of [4096, 1]) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(size), { flag: "a" })
    } catch (error) {
      expect(error).toMatchObject({ code: "ENOSPC" })
    }
  }
}

/** The texts of a session file in which every line is whole. */
const textsIn = (file: string): ReadonlyArray<string> => {
  const text = readFileSync(file, "utf8")
  expect(text.endsWith("\n")).toBe(true)
  return text.trimEnd().split("\n").slice(1).map((line) => JSON.parse(line)).flatMap(({ content = [] }) => content.map(({ text }: { text: string }) => text))
}

describe("a full disk", () => {
  it("is told with file and reason while the turn goes on, leaves no half line, and gets everything in its order once there is room", async () => {
    await using space = await makeWorkspace()
    const script = await space.file("script.json", steps("First.", long, "Third."))
    const rpc = startRpc(space, ["--script", script], { bin: await onDisk(space) })
    await rpc.turn(rpc.send("prompt", { message: "one" }))
    const disk = join("/proc", String(rpc.running.child.pid), "root", sessions(space))
    const name = readdirSync(disk).find((file) => file.endsWith(".jsonl"))!
    const ballast = join(disk, "ballast")
    fill(ballast)

    const second = rpc.send("prompt", { message: "two" })
    await rpc.turn(second)
    const told = rpc.all().filter(({ type }) => type === "error").map(({ message }) => message)
    expect(told.at(-1)).toContain("no space left on device")
    expect(told.at(-1)).toContain(name)
    expect(rpc.all()).toContainEqual(expect.objectContaining({ type: "message", role: "assistant", content: long }))
    const [first, answer] = textsIn(join(disk, name))
    expect([first, answer]).toEqual(["one", "First."])
    expect(readFileSync(join(disk, name), "utf8")).not.toContain("Word after word")

    rmSync(ballast)
    await rpc.turn(rpc.send("prompt", { message: "three" }))
    expect(textsIn(join(disk, name))).toEqual(["one", "First.", "two", long, "three", "Third."])
    expect((await rpc.end()).code).toBe(0)
  })

  it("makes a run that could not save fail, with its answer on stdout and what is lost on stderr", async () => {
    await using space = await makeWorkspace()
    const script = await space.file("script.json", steps(long))
    const kept = join(space.root, "kept")
    const bin = await onDisk(space, { before: `head -c 61440 /dev/zero > ${sessions(space)}/ballast`, after: `rm ${sessions(space)}/ballast; cp -r ${sessions(space)} ${kept}` })
    const run = await space.nimlet(["-p", "--script", script, "hello"], { bin })
    expect(run.stdout.trim()).toBe(long)
    expect(run.stderr).toContain("no space left on device")
    expect(run.stderr).toContain("are not saved")
    expect(run.code).toBe(1)
    for (const name of readdirSync(kept).filter((file) => file.endsWith(".jsonl"))) expect(await readFile(join(kept, name), "utf8")).toMatch(/^$|\n$/)
  })

  it("makes one fail in the same way where the disk takes nothing at all", async () => {
    await using space = await makeWorkspace()
    const script = await space.file("script.json", steps("Answered."))
    const run = await space.nimlet(["-p", "--script", script, "hello"], { bin: await onDisk(space, { mount: "ro" }) })
    expect(run.stdout.trim()).toBe("Answered.")
    expect(run.stderr).toMatch(/read-only file system/i)
    expect(run.code).toBe(1)
  })
})
