/**
 * Cuts text into what a person takes for characters, as `Intl.Segmenter` does. Making the first one of those costs a fifth
 * of the first frame, and each use of one some fifteen times what it costs to walk through a text in which nothing
 * combines: the build puts this class wherever code makes one (see `build.ts`).
 */

/** Latin letters, punctuation, arrows, rules, signs and Chinese characters: each stands alone, whatever of these is beside it. */
const plain = /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u2bff\u4e00-\u9fff]*$/

/** A text in which every code unit is a character. */
class PlainSegments implements Intl.Segments {
  readonly #input: string

  constructor(input: string) {
    this.#input = input
  }

  containing(index = 0): Intl.SegmentData | undefined {
    const at = Math.trunc(index)
    const segment = this.#input[at]
    return segment === undefined ? undefined : { segment, index: at, input: this.#input }
  }

  *[Symbol.iterator](): Generator<Intl.SegmentData, undefined, unknown> {
    const input = this.#input
    for (let index = 0; index < input.length; index++) yield { segment: input.charAt(index), index, input }
    return undefined
  }
}

/** A segmenter that is made when the first text needs one. */
export class LeanSegmenter implements Intl.Segmenter {
  readonly #make: () => Intl.Segmenter
  readonly #byCharacter: boolean
  #full: Intl.Segmenter | undefined

  constructor(...options: ConstructorParameters<typeof Intl.Segmenter>) {
    // Taken out of its object, so that the build leaves it what it is.
    const { Segmenter } = Intl
    this.#make = () => new Segmenter(...options)
    this.#byCharacter = (options[1]?.granularity ?? "grapheme") === "grapheme"
  }

  segment(input: string): Intl.Segments {
    return this.#byCharacter && plain.test(input) ? new PlainSegments(input) : this.#segmenter.segment(input)
  }

  resolvedOptions(): Intl.ResolvedSegmenterOptions {
    return this.#segmenter.resolvedOptions()
  }

  get #segmenter(): Intl.Segmenter {
    this.#full ??= this.#make()
    return this.#full
  }
}
