/**
 * A shell command as the simple commands it runs, so that what was allowed once allows no more than that. Only what can be
 * seen through is taken apart: words, quotes and plain redirections, joined by `;`, `&`, `&&`, `||`, `|`, new lines and
 * brackets. Anything else (substitutions, here-documents, assignments, loops, functions, comments, continued lines) is one
 * whole that stands for itself. Pure.
 */
import type { Command, parse, Redirection, Script, Statement, SyntaxNode, Word, WordPart } from "unbash"

/** Reads shell text. */
export type ShellParser = typeof parse

const isPlainPart = (part: WordPart): boolean =>
  part.type === "Literal" || part.type === "SingleQuoted" || part.type === "Glob" ||
  (part.type === "DoubleQuoted" && part.parts.every(({ type }) => type === "Literal"))

const isPlainWord = (word: Word): boolean => !/[\n\\]/.test(word.text) && (word.parts ?? []).every(isPlainPart)

const isPlainRedirect = (redirect: Redirection): boolean =>
  redirect.type === "Redirect" && redirect.descriptor?.type !== "FileDescriptorVariable" && redirect.target !== undefined && isPlainWord(redirect.target)

/** What may stand between the pieces of a simple command, and between simple commands. */
const space = /^[ \t]*$/
const joints = /^[\s;&|(){}!]*$/

/** The text of a simple command with one space between its pieces; undefined when it cannot be seen through. */
const simple = (source: string, command: Command): string | undefined => {
  if (command.name === undefined || command.prefix.length > 0 || !isPlainWord(command.name)) return undefined
  const pieces: Array<Word | Redirection> = [command.name]
  for (const piece of command.suffix) {
    if (piece.type === "Assignment" || !(piece.type === "Word" ? isPlainWord(piece) : isPlainRedirect(piece))) return undefined
    pieces.push(piece)
  }
  const apart = pieces.every((piece, index) => space.test(source.slice(pieces[index - 1]?.end ?? piece.pos, piece.pos)))
  return apart ? pieces.map(({ end, pos }) => source.slice(pos, end)).join(" ") : undefined
}

type Node = SyntaxNode | Script

/** The simple commands below a node, in order; undefined when one of its parts is of another kind. */
const commandsIn = (node: Node): ReadonlyArray<Command> | undefined => {
  const all = (nodes: ReadonlyArray<Node>) => {
    const found = nodes.map(commandsIn)
    return found.every((commands) => commands !== undefined) ? found.flat() : undefined
  }
  switch (node.type) {
    case "Command":
      return [node]
    case "Pipeline":
      return node.prefixes.every(({ type }) => type === "Negation") ? all(node.commands) : undefined
    case "AndOr":
    case "CompoundList":
    case "Script":
      return all(node.commands satisfies ReadonlyArray<Statement | Node>)
    case "Statement":
      return commandsIn(node.command)
    case "Subshell":
    case "BraceGroup":
      return commandsIn(node.body)
    default:
      return undefined
  }
}

/** The simple commands of a text, each in one spelling; undefined when it cannot be seen through. */
export const simpleCommands = (parse: ShellParser, source: string): ReadonlyArray<string> | undefined => {
  const script = parse(source)
  if (script.errors !== undefined && script.errors.length > 0) return undefined
  const commands = commandsIn(script)
  if (commands === undefined || commands.length === 0) return undefined
  const ends = [...commands.map(({ pos }) => pos), source.length]
  const seamless = ends.every((end, index) => joints.test(source.slice(commands[index - 1]?.end ?? 0, end)))
  if (!seamless) return undefined
  const texts = commands.map((command) => simple(source, command))
  return texts.every((text) => text !== undefined) ? texts : undefined
}

/** Words whose commands are asked about every time, whatever was said before. */
const dangerous =
  /(?<![\w.-])(?:rm|sudo|su|doas|curl|wget|ssh|scp|chmod|chown|kill|pkill|killall|dd|mkfs[.\w]*|shutdown|reboot|eval|source|git\s+(?:reset|clean|restore|checkout\s+--|push))(?![\w.-])/i

/** Whether an answer about this command may be remembered. */
export const isRememberable = (source: string): boolean => !dangerous.test(source)

/** What a remembered answer to a command holds for. A command that cannot be seen through stands for itself alone. */
export const grantKeys = (parse: ShellParser, source: string): ReadonlyArray<string> =>
  (simpleCommands(parse, source) ?? [source.trim()]).map((command) => `bash:${command}`)
