/**
 * Words that were most likely meant for a subcommand, but do not fit one and so are a prompt: whoever typed them is told. Prose that
 * only begins like one is left alone. Pure.
 */
import { subcommands } from "./Flags.ts"

/** Whose help has the right words; likely only if all of `files` are there. */
export interface NearCommand {
  readonly help: string
  readonly files: ReadonlyArray<string>
}

/** A flag, a path, a file with an ending, or an id: no word of a sentence. */
const isOperand = (word: string): boolean => /^-|^~|[\\/]|\.\w{1,8}$|^\d{6}[\w-]*$/.test(word)

/** Whether one letter too many, too few, wrong or two swapped are all that is between two words. */
const isSlip = (a: string, b: string): boolean => {
  const least = Math.min(a.length, b.length)
  let front = 0
  while (front < least && a[front] === b[front]) front++
  let back = 0
  while (back < least - front && a.at(-1 - back) === b.at(-1 - back)) back++
  const [x, y] = [a.slice(front, a.length - back), b.slice(front, b.length - back)]
  return Math.max(x.length, y.length) <= 1 || x.length === 2 && y.length === 2 && x[0] === y[1] && x[1] === y[0]
}

/** What words behind the first could have been meant for, where they are no subcommand. */
export const nearCommand = (words: ReadonlyArray<string>): NearCommand | undefined => {
  const [first = "", ...rest] = words
  const [second = "", ...behind] = rest
  const group = subcommands.filter(({ name }) => name.split(" ")[0] === first)
  if (group.length === 0) return undefined
  if (rest.every(isOperand)) return { help: first, files: [] }
  const alone = group.find(({ name }) => name === first)
  if (alone !== undefined) return alone.operands === undefined ? undefined : { help: first, files: rest.filter((word) => !isOperand(word)) }
  const verbs = group.map(({ name }) => name.slice(first.length + 1))
  if (verbs.includes(second)) return { help: `${first} ${second}`, files: [] }
  const goesOn = behind[0] === undefined || isOperand(behind[0])
  const meant = behind[0] !== undefined || verbs.some((verb) => isSlip(verb, second) || second.length > 2 && verb.startsWith(second))
  return goesOn && meant ? { help: first, files: [] } : undefined
}
