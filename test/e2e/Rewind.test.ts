/** `/rewind`: back in the conversation, and the files that the tools changed with it, as far as nobody else has changed them. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { copyWorkspace, makeWorkspace, type Workspace } from "../kit/Workspace.ts"

const text = ({ work }: Workspace, name: string) => existsSync(join(work, name)) ? readFileSync(join(work, name), "utf8") : undefined
const idsIn = ({ home }: Workspace) => readdirSync(join(home, ".nimlet/sessions")).filter((name) => name.endsWith(".jsonl")).map((name) => name.slice(0, -6)).toSorted()

let made: Workspace
beforeAll(async () => {
  made = await makeWorkspace()
  await made.file("old.txt", "one two\n")
  await made.nimlet(["create new.txt with hello then replace one with 1 in old.txt"])
  await made.nimlet(["--resume", "replace hello with goodbye in new.txt then replace two with 2 in old.txt then replace 1 with uno in old.txt"])
})
afterAll(() => made[Symbol.asyncDispose]())
/** Two turns: the first makes a file and edits one, the second edits both, twice the one that was there. */
const worked = async () => {
  const space = await copyWorkspace(made)
  expect([text(space, "old.txt"), text(space, "new.txt")]).toEqual(["uno 2\n", "goodbye"])
  const say = async (session: string, words: string) => {
    const { code, stderr, stdout } = await space.nimlet(["-p", "--session", session, words])
    return { code, out: stdout, err: stderr }
  }
  return { space, id: idsIn(space)[0]!, say }
}

describe("/rewind with files", () => {
  it("shows what would go back and does nothing, then does it, and takes it back", async () => {
    const { id, say, space } = await worked()
    await using _ = space
    expect((await say(id, "/rewind 2 files")).out).toBe("new.txt: would be as it was\nold.txt: would be as it was\n/rewind 2 files now does it.\n")
    expect((await say(id, "/rewind 1 files")).out).toContain("new.txt: would be taken away\nold.txt: would be as it was\n")
    expect([text(space, "old.txt"), text(space, "new.txt"), idsIn(space).length]).toEqual(["uno 2\n", "goodbye", 1])

    const second = await say(id, "/rewind 2 files now")
    expect([second.code, text(space, "old.txt"), text(space, "new.txt")]).toEqual([0, "1 two\n", "hello"])
    const [, back] = idsIn(space)
    expect(second.out).toContain(back)
    // From the session that was entered, further back: what was kept for the first one is known there, too.
    const first = await say(back!, "/rewind 1 files now")
    expect([first.code, text(space, "old.txt"), text(space, "new.txt")]).toEqual([0, "one two\n", undefined])

    const begin = idsIn(space)[2]!
    expect([(await say(begin, "/rewind undo")).code, text(space, "old.txt"), text(space, "new.txt")]).toEqual([0, "1 two\n", "hello"])
    expect([(await say(back!, "/rewind undo")).code, text(space, "old.txt"), text(space, "new.txt")]).toEqual([0, "uno 2\n", "goodbye"])
    expect((await say(back!, "/rewind undo")).code).toBe(1)
  })

  it("changes nothing at all where one of the files was changed otherwise, since or in between", async () => {
    const { id, say, space } = await worked()
    await using _ = space
    writeFileSync(join(space.work, "old.txt"), "mine\n")
    expect((await say(id, "/rewind 2 files")).out).toContain("old.txt: something else changed it since\n")
    const refused = await say(id, "/rewind 2 files now")
    expect([refused.code, refused.err.includes("old.txt: something else changed it since"), text(space, "old.txt"), text(space, "new.txt"), idsIn(space).length]).toEqual([1, true, "mine\n", "goodbye", 1])
    await say(id, "replace mine with yours in old.txt")
    expect((await say(id, "/rewind 1 files")).out).toContain("old.txt: something else changed it in between\n")
    // What was done after that is known, and goes back.
    expect([(await say(id, "/rewind 3 files now")).code, text(space, "old.txt"), text(space, "new.txt")]).toEqual([0, "mine\n", "goodbye"])
  })

  it("does not take back what somebody worked on since", async () => {
    const { id, say, space } = await worked()
    await using _ = space
    await say(id, "/rewind 1 files now")
    writeFileSync(join(space.work, "new.txt"), "written since")
    const refused = await say(idsIn(space)[1]!, "/rewind undo")
    expect([refused.code, text(space, "old.txt"), text(space, "new.txt")]).toEqual([1, "one two\n", "written since"])
  })

  it("keeps what files held for their owner alone, and says so when it is gone", async () => {
    const { id, say, space } = await worked()
    await using _ = space
    const folder = join(space.home, ".nimlet/sessions/.snapshots", id)
    const kept = readdirSync(folder)
    expect(kept.map((name) => readFileSync(join(folder, name), "utf8")).toSorted()).toEqual(["1 2\n", "1 two\n", "hello", "one two\n"])
    for (const name of kept) expect(statSync(join(folder, name)).mode & 0o077).toBe(0)
    for (const name of kept) writeFileSync(join(folder, name), "x")
    expect((await say(id, "/rewind 2 files")).out).toMatch(/^new\.txt: what it held before is not kept any more\nold\.txt: what it held before is not kept any more\nSo no file/)
  })

  it("goes back without files too, and says how it is asked for", async () => {
    const { id, say, space } = await worked()
    await using _ = space
    expect([(await say(id, "/rewind 2")).code, text(space, "old.txt"), idsIn(space).length]).toEqual([0, "uno 2\n", 2])
    for (const words of ["/rewind", "/rewind two", "/rewind 2 file", "/rewind 2 files later", "/rewind 9 files", "/rewind undo"]) expect([words, (await say(id, words)).code]).toEqual([words, 1])
  })
})
