/** A modal widget whose completion is pending while the person closes and opens it anew, as published extensions do it, with a real program. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { headless, type WidgetView } from "@nimlet/extension"
import { withRealAgent } from "./RealAgent.ts"

const fixture = (name: string) => readFileSync(fileURLToPath(new URL(`../../../test/fixtures/extensions/aside/${name}`, import.meta.url)), "utf8")
const folder = "home/.niminal/extensions/aside"

describe("a question beside the conversation", () => {
  it.live("is answered in its modal by a completion that looked around, and an answer for a closed one is dropped", () => {
    const widgets = new Map<string, WidgetView>()
    const shown = () => [...widgets.entries()].map(([key, { actions, content, position }]) => ({ key, position, actions: actions.map(({ id }) => id), text: content.map((each) => "text" in each ? each.text : "").join() }))
    const frontend = {
      ...headless,
      widget: (key: string, widget: WidgetView | undefined) => Effect.sync(() => void (widget === undefined ? widgets.delete(key) : widgets.set(key, widget)))
    }
    const until = (holds: () => boolean) => Effect.repeat(Effect.andThen(Effect.sleep("10 millis"), Effect.sync(holds)), { times: 1_000, until: (there) => there })
    return withRealAgent({
      files: { [`${folder}/extension.json`]: fixture("extension.json"), [`${folder}/aside.mjs`]: fixture("aside.mjs"), "work/a.txt": "alpha\n" },
      scenario: [
        { text: "late", delayMs: 1_000 },
        { tools: [{ name: "read", args: { path: "a.txt" } }] },
        { text: "It says alpha." }
      ]
    }, ({ agent, extensions, stub }) =>
      Effect.gen(function*() {
        assert.isTrue((yield* agent.prompt({ typed: "/aside what is it?" })).success)
        assert.deepStrictEqual(shown(), [{ key: "aside:aside-1", position: "modal", actions: ["submit", "close"], text: "what is it?" }])
        // Nothing blank is submitted, nor what is not listed.
        assert.isFalse(yield* extensions.act("aside:aside-1", "submit", " \n"))
        assert.isFalse(yield* extensions.act("aside:aside-1", "cancel"))
        assert.isTrue(yield* extensions.act("aside:aside-1", "submit", "first?"))
        yield* Effect.promise(() => stub.arrived(1))
        assert.deepStrictEqual(shown()[0]?.actions, ["close"])

        // Closed and opened anew while the first answer is awaited: it reads on meanwhile.
        assert.isTrue(yield* extensions.act("aside:aside-1", "close"))
        yield* until(() => widgets.size === 0)
        assert.isTrue((yield* agent.prompt({ typed: "/aside and now?" })).success)
        assert.isTrue(yield* extensions.act("aside:aside-2", "submit", "what does a.txt say?"))
        yield* until(() => shown()[0]?.text === "It says alpha.")
        assert.deepStrictEqual(shown(), [{ key: "aside:aside-2", position: "modal", actions: ["submit", "close"], text: "It says alpha." }])

        // One at a time, in order; the second looked into the file. None of it is in the session.
        assert.deepStrictEqual(stub.requests.map(({ problem, status }) => problem ?? status), [200, 200, 200])
        assert.include(JSON.stringify(stub.requests[2]?.body), "alpha")
        assert.deepStrictEqual((yield* (yield* agent.session).entries).map(({ type }) => type), [])
        yield* agent.newSession
        assert.strictEqual(widgets.size, 0)
      }), { frontend })
  }, 30_000)
})
