/** Lines of a text that are like a wanted one, for whoever got it slightly wrong. Pure. */

/** A line of the file like the one looked for. */
export interface NearLine {
  readonly line: number
  readonly text: string
}

const MAX_NEAR = 3
const MAX_SEARCHED_LINES = 20_000

const bigrams = (text: string): Map<string, number> => {
  const counts = new Map<string, number>()
  for (let i = 0; i + 1 < text.length && i < 200; i++) {
    const pair = text.slice(i, i + 2)
    counts.set(pair, (counts.get(pair) ?? 0) + 1)
  }
  return counts
}

const likeness = (a: Map<string, number>, b: Map<string, number>): number => {
  let common = 0
  let all = 0
  for (const [pair, count] of a) {
    common += Math.min(count, b.get(pair) ?? 0)
    all += count
  }
  for (const count of b.values()) all += count
  return all === 0 ? 0 : 2 * common / all
}

/** The lines of `text` most like the first line with content of `wanted`, best first. */
export const nearLines = (text: string, wanted: string): ReadonlyArray<NearLine> => {
  const sought = wanted.split("\n").map((line) => line.trim()).find((line) => line !== "")
  if (sought === undefined) return []
  const pairs = bigrams(sought)
  return text.split("\n", MAX_SEARCHED_LINES)
    .map((line, index) => {
      const bare = line.trim()
      return { line: index + 1, text: line, score: bare === sought ? 2 : likeness(pairs, bigrams(bare)) }
    })
    .filter(({ score }) => score >= 0.6)
    .sort((a, b) => b.score - a.score || a.line - b.line)
    .slice(0, MAX_NEAR)
    .map(({ line, text }) => ({ line, text: text.trimEnd() }))
}
