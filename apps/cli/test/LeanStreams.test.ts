import { assert, describe, it } from "@effect/vitest"
import type { ReadableStreamController, Transformer, UnderlyingSource } from "node:stream/web"
import { LeanReadable } from "../src/streams/LeanReadable.ts"
import { LeanTextDecoder, LeanTransform } from "../src/streams/LeanTransform.ts"

interface Streams {
  readonly readable: <R>(source?: UnderlyingSource<R>) => ReadableStream<R>
  readonly transform: <I, O>(transformer?: Transformer<I, O>) => TransformStream<I, O>
  readonly decoder: () => TextDecoderStream
}

const platform: Streams = {
  // Without its one chunk of reading ahead, which lean streams do not do.
  readable: (source) => new ReadableStream(source, { highWaterMark: 0 }),
  transform: (transformer) => new TransformStream(transformer),
  decoder: () => new TextDecoderStream()
}
const lean: Streams = {
  readable: (source) => new LeanReadable(source),
  transform: (transformer) => new LeanTransform(transformer),
  decoder: () => new LeanTextDecoder()
}

const all = async <R>(stream: ReadableStream<R>): Promise<ReadonlyArray<R>> => {
  const chunks: Array<R> = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}
const reading = (stream: ReadableStream<unknown>): Promise<ReadonlyArray<unknown>> => all(stream).catch((error: unknown) => ["failed", error])
const settled = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then((value) => value, (error: unknown) => error instanceof TypeError ? "TypeError" : error)
const boom = new Error("boom")

/** A source of `chunks`, one a pull, that notes what is done with it. */
const counting = (streams: Streams, chunks: ReadonlyArray<unknown>, options: { readonly failing?: boolean; readonly slow?: boolean } = {}) => {
  const seen: Array<unknown> = []
  let next = 0
  const give = (controller: ReadableStreamController<unknown>) => {
    seen.push("pull")
    if (next < chunks.length) controller.enqueue(chunks[next++])
    else if (options.failing === true) controller.error(boom)
    else controller.close()
  }
  const stream = streams.readable<unknown>({
    pull: options.slow === true ? async (controller) => {
      await new Promise(setImmediate)
      give(controller)
    } : give,
    cancel: (reason) => {
      seen.push(["cancel", reason])
    }
  })
  return { stream, seen }
}

// Each test tells what happens with the streams it is given; that must be the same with the platform's and with ours.
const same = (happens: (streams: Streams) => Promise<unknown>) => async () => {
  const expected = await happens(platform)
  assert.deepStrictEqual(await happens(lean), expected)
  assert.notDeepEqual(expected, [])
}

describe("a lean readable stream does what the platform's does", () => {
  it("chunks come in order, from a pull and at once", same(async (streams) => [
    await all(counting(streams, [1, undefined, 0, ""]).stream),
    await all(counting(streams, [1, 2, 3], { slow: true }).stream),
    await all(streams.readable<number>({
      start: (controller) => {
        controller.enqueue(1)
        controller.enqueue(2)
        controller.close()
      }
    })),
    await all(streams.readable<number>({
      start: async (controller) => {
        await new Promise(setImmediate)
        controller.enqueue(1)
      },
      pull: (controller) => controller.close()
    }))
  ]))

  it("nothing is pulled that is not asked for", same(async (streams) => {
    const { seen, stream } = counting(streams, [1, 2, 3, 4])
    await new Promise(setImmediate)
    const reader = stream.getReader()
    const chunks = [await reader.read(), await reader.read()]
    await new Promise(setImmediate)
    return [seen, chunks]
  }))

  it("reads may wait beside each other", same(async (streams) => {
    const reader = counting(streams, [1, 2], { slow: true }).stream.getReader()
    return Promise.all([reader.read(), reader.read(), reader.read(), reader.read()])
  }))

  it("an error ends it, whether a pull throws, rejects or tells it", same(async (streams) => [
    await reading(counting(streams, [1, 2], { failing: true }).stream),
    await reading(streams.readable({ pull: () => { throw boom } })),
    await reading(streams.readable({ pull: () => Promise.reject(boom) })),
    await reading(streams.readable({ start: () => Promise.reject(boom) })),
    await settled(streams.readable({ start: (controller) => controller.error(boom) }).cancel()),
    await reading(streams.readable<number>({
      start: (controller) => {
        controller.enqueue(1)
        controller.error(boom)
      }
    }))
  ]))

  it("the first ending stays", same(async (streams) => {
    const failed = streams.readable({
      start: (controller) => {
        controller.error(boom)
        controller.error(new Error("another"))
      }
    }).getReader()
    const closed = streams.readable({
      start: (controller) => {
        controller.close()
        controller.error(boom)
      }
    }).getReader()
    return [await settled(failed.read()), await settled(failed.read()), await closed.read(), await closed.read()]
  }))

  it("cancelling ends reads and tells the source why, once", same(async (streams) => {
    const { seen, stream } = counting(streams, [1], { slow: true })
    const reader = stream.getReader()
    const waiting = reader.read()
    await reader.cancel("why")
    await reader.cancel("again")
    return [await waiting, await reader.read(), seen]
  }))

  it("leaving a loop over it cancels it", same(async (streams) => {
    const { seen, stream } = counting(streams, [1, 2])
    for await (const _ of stream) break
    return [seen, stream.locked]
  }))

  it("has one reader at a time", same(async (streams) => {
    const { stream } = counting(streams, [1, 2], { slow: true })
    const reader = stream.getReader()
    const found: Array<unknown> = [stream.locked, await settled(stream.cancel())]
    try {
      stream.getReader()
    } catch (error) {
      found.push(error instanceof TypeError)
    }
    const waiting = settled(reader.read())
    reader.releaseLock()
    reader.releaseLock()
    found.push(await waiting, await settled(reader.read()), await settled(reader.cancel()), await settled(reader.closed), stream.locked)
    return found
  }))

  it("a reader knows when it is over", same(async (streams) => {
    const over = streams.readable({ start: (controller) => controller.close() }).getReader()
    const failed = streams.readable({ start: (controller) => controller.error(boom) }).getReader()
    const later = counting(streams, [1]).stream.getReader()
    const closed = later.closed.then(() => "closed")
    await later.read()
    await later.read()
    const queued = streams.readable<number>({
      start: (controller) => {
        controller.enqueue(1)
        controller.close()
      }
    }).getReader()
    await queued.read()
    return [await over.closed, await settled(failed.closed), await closed, await queued.closed]
  }))

  it("after its end it takes nothing", same(async (streams) => {
    let told: unknown[] = []
    streams.readable<number>({
      start: (controller) => {
        controller.enqueue(1)
        controller.close()
        for (const attempt of [() => controller.enqueue(2), () => controller.close()]) {
          try {
            attempt()
          } catch (error) {
            told.push(error instanceof TypeError)
          }
        }
        told.push(controller.desiredSize)
      }
    })
    return told
  }))

  it("two branches both get everything, at their own pace", same(async (streams) => {
    const [left, right] = counting(streams, [1, 2, 3], { slow: true }).stream.tee()
    return [await all(left), await all(right)]
  }))

  it("a branch goes on when the other is cancelled; the source is cancelled with the last", same(async (streams) => {
    const { seen, stream } = counting(streams, [1, 2, 3])
    const [left, right] = stream.tee()
    const [a, b] = [left.getReader(), right.getReader()]
    const found: Array<unknown> = [await a.read()]
    a.cancel("a").catch(() => {})
    found.push(await b.read(), await b.read(), seen.includes("cancel"))
    await b.cancel("b")
    return [found, seen.filter((one) => one !== "pull").length, await a.read(), await b.read()]
  }))

  it("an error reaches both branches", same(async (streams) => {
    const [left, right] = counting(streams, [1], { failing: true }).stream.tee()
    return Promise.all([reading(left), reading(right)])
  }))

  it("is the body of an answer", same(async (streams) => {
    const chunks = ["gr", "öße"].map((text) => new TextEncoder().encode(text))
    return new Response(counting(streams, chunks).stream as ReadableStream).text()
  }))
})

describe("a lean transform does what the platform's does", () => {
  /** Splits texts into words, many, one or none a chunk. */
  const words: Transformer<string, string> = {
    start: (controller) => controller.enqueue("<"),
    transform: (text, controller) => {
      for (const word of text.split(" ")) if (word !== "") controller.enqueue(word)
    },
    flush: (controller) => controller.enqueue(">")
  }
  const texts = ["a b", "", " ", "c", "d e f"]

  it("chunks become none, one or many, between what start and flush add", same(async (streams) => [
    await all(counting(streams, texts).stream.pipeThrough(streams.transform(words))),
    await all(counting(streams, []).stream.pipeThrough(streams.transform(words))),
    await all(counting(streams, texts, { slow: true }).stream.pipeThrough(streams.transform(words)).pipeThrough(streams.transform())),
    await all(counting(streams, texts).stream.pipeThrough(streams.transform({
      start: async (controller) => {
        for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
        controller.enqueue("first")
      },
      transform: async (text: string, controller) => {
        await new Promise(setImmediate)
        controller.enqueue(text.length)
      },
      flush: async (controller) => {
        await new Promise(setImmediate)
        controller.enqueue(-1)
      }
    })))
  ]))

  it("an error of the source, of the transform or told by it comes out", same(async (streams) => [
    await reading(counting(streams, ["a b"], { failing: true }).stream.pipeThrough(streams.transform(words))),
    await reading(counting(streams, ["a"]).stream.pipeThrough(streams.transform({ transform: () => { throw boom } }))),
    await reading(counting(streams, ["a"]).stream.pipeThrough(streams.transform({ transform: () => Promise.reject(boom) }))),
    await reading(counting(streams, ["a"]).stream.pipeThrough(streams.transform({ transform: (_, controller) => controller.error(boom) }))),
    await reading(counting(streams, ["a"]).stream.pipeThrough(streams.transform({ flush: () => { throw boom } })))
  ]))

  it("a source whose transform failed, or wants no more, is cancelled", same(async (streams) => {
    const run = async (transformer: Transformer<unknown, unknown>) => {
      const { seen, stream } = counting(streams, [1, 2, 3])
      const found = await reading(stream.pipeThrough(streams.transform(transformer)))
      await new Promise(setImmediate)
      return [found, seen.filter((one) => one !== "pull").map((one) => Array.isArray(one) && one[1] === boom)]
    }
    return [
      await run({ transform: () => { throw boom } }),
      await run({ transform: (_, controller) => controller.error(boom) }),
      await run({ transform: (chunk, controller) => (controller.enqueue(chunk), controller.terminate()) }),
      await run({ transform: (chunk, controller) => (controller.enqueue(chunk), controller.enqueue(chunk), controller.terminate(), controller.terminate()) })
    ]
  }))

  it("cancelling what comes out cancels what goes in", same(async (streams) => {
    const { seen, stream } = counting(streams, texts)
    const reader = stream.pipeThrough(streams.transform(words)).pipeThrough(streams.transform()).getReader()
    await reader.read()
    await reader.cancel(boom)
    await new Promise(setImmediate)
    return [await reader.read(), seen.filter((one) => one !== "pull")]
  }))

  it("nothing is flushed that was cancelled", same(async (streams) => {
    const flushed: Array<string> = []
    const reader = counting(streams, ["a"], { slow: true }).stream
      .pipeThrough(streams.transform({ flush: () => void flushed.push("flushed") })).getReader()
    const waiting = reader.read()
    await reader.cancel()
    const late = await waiting
    await new Promise(setImmediate)
    return [late, flushed]
  }))

  it("text comes out of bytes cut anywhere", same(async (streams) => {
    const bytes = [..."\ufeffgrößer 😀!"].flatMap((one) => [...new TextEncoder().encode(one)])
    const cut = (size: number) => Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => Uint8Array.from(bytes.slice(at * size, at * size + size)))
    const text = (chunks: ReadonlyArray<Uint8Array>) => all(counting(streams, chunks).stream.pipeThrough(streams.decoder() as ReadableWritable))
    return [await text(cut(1)), await text(cut(2)), await text(cut(100)), await text([Uint8Array.from([0x67, 0xf0, 0x9f])])]
  }))

  it("a class may extend it", same(async (streams) => {
    const Base = streams === lean ? LeanTransform : TransformStream
    const Doubling = class extends Base<number, number> {
      constructor() {
        super({ transform: (chunk, controller) => controller.enqueue(2 * chunk) })
      }
    }
    return all(counting(streams, [1, 2]).stream.pipeThrough(new Doubling() as TransformStream<unknown, number>))
  }))
})

type ReadableWritable = import("node:stream/web").ReadableWritablePair<string, unknown>

describe("lean streams", () => {
  it("read nothing ahead through a row of transforms", async () => {
    const { seen, stream } = counting(lean, [1, 2, 3, 4])
    const reader = stream.pipeThrough(lean.transform()).pipeThrough(lean.transform()).getReader()
    await new Promise(setImmediate)
    assert.deepStrictEqual(seen, [])
    await reader.read()
    await new Promise(setImmediate)
    assert.deepStrictEqual(seen, ["pull"])
  })

  it("read once for two branches that wait together", async () => {
    const { seen, stream } = counting(lean, [1, 2], { slow: true })
    const [left, right] = stream.tee().map((branch) => branch.getReader())
    assert.deepStrictEqual(await Promise.all([left?.read(), right?.read()]), [{ done: false, value: 1 }, { done: false, value: 1 }])
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
    assert.deepStrictEqual(seen, ["pull"])
  })

  it("refuse what they cannot do", () => {
    const stream = new LeanReadable()
    assert.throws(() => stream.getReader({ mode: "byob" }), TypeError)
    assert.throws(() => stream.pipeTo(), TypeError)
    assert.throws(() => stream.pipeThrough(new TransformStream()), TypeError)
    assert.throws(() => new LeanTransform().writable, TypeError)
  })
})
