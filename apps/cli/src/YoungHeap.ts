/**
 * The part of V8's heap where new things are put first. It doubles again and again while much is read that stays, which is what
 * a long session does, and keeps that size: a third of all memory then.
 */

/** A session file of so many bytes is long. */
export const longSession = 4 * 1024 * 1024

/** Keeps it at its present size for the rest of the process. Small things that come and go need no more. */
export const holdYoungHeap = (): void => process.getBuiltinModule("node:v8").setFlagsFromString("--semi-space-growth-factor=1")
