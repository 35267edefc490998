/**
 * The part of V8's heap where new things are put first. It doubles again and again while much is made that stays, and keeps that
 * size: a third of all memory then. Small things that come and go need no more than it has when a run begins.
 *
 * A flag of V8 has its price: Node's own modules, and ours in the compile cache, are kept in a compiled form that holds only for
 * the flags it was made under. What is loaded under others is compiled anew, a fifth of the time that a short run takes. So
 * the flag is set when all that a run needs is loaded.
 */

/** A session file of so many bytes is long. */
export const longSession = 4 * 1024 * 1024

const grow = (factor: number): void => process.getBuiltinModule("node:v8").setFlagsFromString(`--semi-space-growth-factor=${factor}`)

/** Keeps it at its present size. */
export const holdYoungHeap = (): void => grow(1)

/** Lets it double again, as V8 does by itself. */
export const letYoungHeapGrow = (): void => grow(2)
