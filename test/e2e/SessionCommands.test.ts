/** `nimlet sessions …` and what a run says of a session it cannot take or that is damaged. */
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startRpc } from "../kit/RpcDriver.ts"
import { copyWorkspace, makeWorkspace, startNimlet, type Workspace } from "../kit/Workspace.ts"

const folderOf = ({ home }: Workspace) => join(home, ".nimlet/sessions")
const idsIn = (space: Workspace) => readdirSync(folderOf(space)).filter((name) => name.endsWith(".jsonl")).map((name) => name.slice(0, -6)).toSorted()
/** Runs `nimlet sessions …`; what it wrote on both ends, and its exit code. */
const sessions = async (space: Workspace, ...args: ReadonlyArray<string>) => {
  const { code, stderr, stdout } = await space.nimlet(["sessions", ...args], { env: { TZ: "UTC" } })
  return { code, out: stdout, err: stderr }
}
let made: Workspace
beforeAll(async () => {
  made = await makeWorkspace()
  await made.nimlet(["list the files"])
  await made.nimlet(["--resume", "create notes.txt with hello"])
})
afterAll(() => made[Symbol.asyncDispose]())
/** A workspace with one session of two messages. */
const withSession = async () => {
  const space = await copyWorkspace(made)
  return { space, id: idsIn(space)[0]! }
}

describe("nimlet sessions", () => {
  it("lists those of this folder, the newest first, finds them by words, and others everywhere", async () => {
    const { id, space } = await withSession()
    await using _ = space
    await space.nimlet(["grep needle"])
    const [, other] = idsIn(space)
    expect((await sessions(space, "list")).out.trimEnd().split("\n").map((line) => line.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/, "TIME"))).toEqual([
      `${other}  TIME  grep needle`,
      `${id}  TIME  list the files`
    ])
    expect((await sessions(space, "list", "LIST", "files")).out).toContain(id)
    expect(await sessions(space, "list", "files", "zebra")).toEqual({ code: 0, out: "No session with 'files zebra' of this folder; --everywhere looks in all folders.\n", err: "" })
    const elsewhere = await space.nimlet(["sessions", "list", "--json"], { cwd: space.home })
    expect(JSON.parse(elsewhere.stdout)).toEqual({ sessions: [], without_header: [] })
    const all = await space.nimlet(["sessions", "list", "--everywhere", "--json"], { cwd: space.home })
    expect(JSON.parse(all.stdout).sessions).toMatchObject([{ id: other, title: "", workspace: space.work, first_text: "grep needle" }, { id, parent: null }])
  })

  it("says that one has lost its header, in a list and where it is not gone on with, and has it again afterwards", async () => {
    const { id, space } = await withSession()
    await using _ = space
    const file = join(folderOf(space), `${id}.jsonl`)
    writeFileSync(file, readFileSync(file, "utf8").replace(/^.*/, "garbage"))
    const told = `1 session of no known folder, the header is lost: ${id}.`
    const { out } = await sessions(space, "list")
    expect(out).toContain(told)
    expect(out).toContain("No session of this folder")
    expect(JSON.parse((await sessions(space, "list", "--json")).out)).toEqual({ sessions: [], without_header: [id] })
    expect((await space.nimlet(["--resume", "list the files"])).stderr).toContain(told)
    await space.nimlet(["--session", id, "list the files"])
    const after = (await sessions(space, "list")).out
    expect(after).toContain(id)
    expect(after).not.toContain("no known folder")
  })

  it("tells what one holds, numbers its messages, and forks before one of them", async () => {
    const { id, space } = await withSession()
    await using _ = space
    const told = await sessions(space, "show", id)
    expect(told.out).toMatch(/holds +\d+ entries: 2 messages, \d steps, 2 tool calls/)
    expect(told.out).toMatch(/^ +2  .*create notes\.txt with hello$/m)
    expect(JSON.parse((await sessions(space, "show", id, "--json")).out)).toMatchObject({
      id, workspace: space.work, path: join(folderOf(space), `${id}.jsonl`), tool_calls: 2, failed_calls: 0, models: ["offline offline"], damaged: [],
      messages: [{ number: 1, text: "list the files" }, { number: 2, text: "create notes.txt with hello" }]
    })
    const forked = JSON.parse((await sessions(space, "fork", id, "--message", "2", "--json")).out)
    expect(forked).toEqual({ id: idsIn(space)[1], text: "create notes.txt with hello" })
    expect(JSON.parse((await sessions(space, "show", forked.id, "--json")).out)).toMatchObject({ parent: id, messages: [{ text: "list the files" }] })
    const whole = (await sessions(space, "fork", id)).out.match(/session (\d+)/)![1]!
    expect(JSON.parse((await sessions(space, "show", whole, "--json")).out).messages).toHaveLength(2)
    expect((await space.nimlet(["--session", whole, "list the files"])).code).toBe(0)
  })

  it("gives a title, deletes, and brings back", async () => {
    const { id, space } = await withSession()
    await using _ = space
    expect((await sessions(space, "name", id, "Tower", "of", "\u001b[31mlight")).code).toBe(0)
    const { out } = await sessions(space, "list", "tower")
    expect(out).toContain("Tower of [31mlight")
    expect(out).not.toContain("\u001b")
    expect((await sessions(space, "delete", id)).code).toBe(0)
    expect(idsIn(space)).toEqual([])
    expect((await sessions(space, "restore", id)).code).toBe(0)
    expect((await sessions(space, "list", "tower")).out).toContain(id)
  })

  it("writes a page that only its owner can read, to a file or standard output, over no other file", async () => {
    const { id, space } = await withSession()
    await using _ = space
    const run = await sessions(space, "export", id)
    const file = join(space.work, `nimlet-session-${id}.html`)
    expect(run).toEqual({ code: 0, out: `Session ${id} is written to ${file}.\n`, err: "" })
    const page = readFileSync(file, "utf8")
    expect(page).toContain("create notes.txt with hello")
    expect((await sessions(space, "export", id, "-")).out).toBe(page)
    const command = await space.nimlet(["--session", id, "/export page.html"])
    expect([command.code, command.stdout.includes(join(space.work, "page.html"))]).toEqual([0, true])
    expect(readFileSync(join(space.work, "page.html"), "utf8")).toBe(page)
    expect(await sessions(space, "export", id, "notes.txt")).toMatchObject({ code: 1, out: "" })
    expect(readFileSync(join(space.work, "notes.txt"), "utf8")).toBe("hello")
  })

  it("says what was wrong, where, and what helps, with its exit code", async () => {
    const { id, space } = await withSession()
    await using _ = space
    writeFileSync(join(folderOf(space), "letter.jsonl"), "Dear reader,\n")
    const cases: ReadonlyArray<readonly [ReadonlyArray<string>, number, RegExp]> = [
      [["show", "nobody"], 1, /^nimlet sessions show: no session 'nobody' in .*sessions; `nimlet sessions list --everywhere` lists them\n$/],
      [["show", "letter"], 1, /letter\.jsonl: it is no session/],
      [["fork", id, "--message", "9"], 1, /has 2 messages of the user, no message 9; `nimlet sessions show \d+` numbers them/],
      [["fork", id, "--message", "last"], 2, /^--message takes the number .*'last'\n/],
      [["restore", "nobody"], 1, /no session 'nobody' in .*\.trash;/],
      [["export", id, "notes.txt"], 1, /notes\.txt is there already and is no exported session; name another file/],
      [["export", id, "no/folder.html"], 1, /no\/folder\.html: .*no such file or directory/]
    ]
    for (const [args, code, words] of cases) {
      const run = await sessions(space, ...args)
      expect([args, run.code, run.out]).toEqual([args, code, ""])
      expect(run.err).toMatch(words)
    }
    await sessions(space, "delete", id)
    writeFileSync(join(folderOf(space), `${id}.jsonl`), `{"type":"session","workspace":"/w"}\n`)
    expect((await sessions(space, "restore", id)).err).toMatch(/already; delete that one first/)
  })
})

describe("a session", () => {
  it("that another process writes is not taken from it: the process is named, a copy offered, and the copy works", async () => {
    await using space = await makeWorkspace()
    await space.file("script.json", JSON.stringify({ steps: [{ tool: "bash", args: { command: "echo begun; sleep 20" } }, { text: "." }] }))
    const first = startNimlet({ args: ["--mode", "json", "--script", "script.json", "go"], cwd: space.work, home: space.home })
    await first.until((records) => records.includes("begun"))
    const [id] = idsIn(space)
    const second = await space.nimlet(["--resume", "list the files"])
    expect([second.code, second.stdout]).toEqual([1, ""])
    expect(second.stderr).toContain(`is in use by process ${first.child.pid} since `)
    expect(second.stderr).toContain(`nimlet sessions fork ${id}`)
    expect(await sessions(space, "delete", id!)).toMatchObject({ code: 1, err: expect.stringContaining(`process ${first.child.pid}`) })
    expect((await sessions(space, "list")).out).toContain(id)
    const copy = JSON.parse((await sessions(space, "fork", id!, "--json")).out).id
    expect((await space.nimlet(["--session", copy, "list the files"])).code).toBe(0)
    first.signal("SIGTERM")
    await first.ended
  })

  it("is listed, found, named, deleted, brought back, forked and gone on with in RPC mode", async () => {
    const { id, space } = await withSession()
    await using _ = space
    const rpc = startRpc(space, ["--provider", "offline"])
    const command = async (args: string) => {
      await rpc.turn(rpc.send("command", { name: "session", arguments: args }))
      return rpc.all().filter((record) => record["type"] === "message" && record["role"] === "assistant").at(-1)?.["content"]
    }
    expect((await rpc.ask("list_sessions", { query: "FILES" }))["sessions"]).toMatchObject([{ session_id: id }])
    expect(await command(`rename ${id} Tower of light`)).toContain("Tower of light")
    expect(await command("list light")).toContain(id)
    expect(await command(`delete ${id}`)).toContain("restore")
    expect((await rpc.ask("list_sessions"))["sessions"]).toEqual([])
    expect(await rpc.ask("resume", { session: id })).toMatchObject({ ok: false, error: expect.stringContaining(id) })
    expect(await command(`restore ${id}`)).toContain("/resume")
    expect(await rpc.ask("resume", { session: id })).toMatchObject({ ok: true })
    const forked = await rpc.ask("fork", { message: 2 })
    expect(forked).toMatchObject({ ok: true })
    await rpc.ask("new")
    await rpc.end()
    expect(idsIn(space)).toHaveLength(2)
  })

  it("that one RPC client writes is refused to another, who is told whose it is, and is taken over when the first is killed", async () => {
    await using space = await makeWorkspace()
    await space.nimlet(["list the files"])
    const [id] = idsIn(space)
    const args = ["--provider", "offline", "--session", id!]
    const first = startRpc(space, args)
    await first.turn(first.send("prompt", { message: "list the files" }))
    const second = startRpc(space, args)
    const refused = await second.running.ended
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(`process ${first.running.child.pid}`)])
    expect((await sessions(space, "list")).out).toContain(id)
    first.running.signal("SIGKILL")
    await first.running.ended
    const third = startRpc(space, args)
    await third.turn(third.send("prompt", { message: "list the files" }))
    await third.end()
    expect(JSON.parse((await sessions(space, "show", id!, "--json")).out).messages).toHaveLength(3)
  })

  it("that was cut anywhere at its end is gone on with, and only the line that was cut is lost", async () => {
    const { id, space } = await withSession()
    await using _ = space
    await space.nimlet(["--session", id, "create ☃.txt with 日本語 😀"])
    const file = join(folderOf(space), `${id}.jsonl`)
    const whole = readFileSync(file)
    const isWhole = (line: string) => {
      try {
        return JSON.parse(line) !== undefined
      } catch {
        return false
      }
    }
    for (let n = 0; n < 4; n++) {
      const length = whole.length - 1 - n * 71
      writeFileSync(file, whole.subarray(0, length))
      const kept = new TextDecoder().decode(whole.subarray(0, length)).split("\n").filter(isWhole)
      const run = await space.nimlet(["--session", id, "list the files"])
      expect([length, run.code]).toEqual([length, 0])
      const lines = readFileSync(file, "utf8").split("\n").filter(isWhole)
      expect(lines.slice(0, kept.length)).toEqual(kept)
      expect(lines.slice(kept.length).filter((line) => line.includes("list the files"))).toHaveLength(1)
      expect(run.stderr.includes("is left out")).toBe(kept.length < new TextDecoder().decode(whole.subarray(0, length)).split("\n").filter((line) => line !== "").length)
    }
  }, 120_000)

  it("with many damaged lines tells the first of them and how many more there are", async () => {
    const { id, space } = await withSession()
    await using _ = space
    const lines = readFileSync(join(folderOf(space), `${id}.jsonl`), "utf8").trimEnd().split("\n").length
    appendFileSync(join(folderOf(space), `${id}.jsonl`), "not json\n".repeat(300))
    const run = await space.nimlet(["--resume", "list the files"])
    expect(run.code).toBe(0)
    const told = run.stderr.split("\n").filter((line) => line.includes(".jsonl:"))
    expect(told).toHaveLength(6)
    expect(told[0]).toContain(`:${lines + 1}: not valid JSON`)
    expect(told[5]).toContain("295 more damaged lines are left out")
    expect((await sessions(space, "show", id)).out).toMatch(/Damaged lines, left out\n(?: +\d+: not valid JSON\n){10} +and 290 more/)
    expect(JSON.parse((await sessions(space, "show", id, "--json")).out).damaged).toHaveLength(300)
    expect(existsSync(join(folderOf(space), `${id}.jsonl.lock`))).toBe(false)
  })
})
