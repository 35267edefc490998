import { describe, expect, it } from "vitest"
import { inParentheses, type Span } from "../StartFunctions.ts"

/** The spans of pieces of a text, each of which is there once. */
const spansOf = (text: string, pieces: ReadonlyArray<string>): ReadonlyArray<Span> =>
  pieces.map((piece) => [text.indexOf(piece), text.indexOf(piece) + piece.length])

describe("functions that a start calls", () => {
  it.each([
    ["const f = (a) => a, g = (b) => b", ["(a) => a"], "const f = ((a) => a), g = (b) => b"],
    ["const ü = x => y => x + y", ["x => y => x + y", "y => x + y"], "const ü = (x => (y => x + y))"],
    ["call(function () { return () => 1 })", ["function () { return () => 1 }", "() => 1"], "call((function () { return (() => 1) }))"],
    ["export default async () => {}", ["async () => {}"], "export default (async () => {})"],
    ["const o = { f: function () {} }", ["function () {}"], "const o = { f: (function () {}) }"]
  ])("are put in parentheses where they are expressions: %s", (text, called, expected) => {
    expect(inParentheses(text, spansOf(text, called))).toBe(expected)
  })

  it.each([
    ["function f() {}", ["function f() {}"]],
    ["switch (1) { case 1: function f() {} }", ["function f() {}"]],
    ["const o = { m() {}, get g() { return 1 } }", ["() {}", "() { return 1 }"]],
    ["class C { constructor() {} m(a) {} }", ["() {}", "(a) {}"]],
    ["const f = () => 1", []]
  ])("stay as they are where they are none, or were not called: %s", (text, called) => {
    expect(inParentheses(text, spansOf(text, called))).toBe(text)
  })
})
