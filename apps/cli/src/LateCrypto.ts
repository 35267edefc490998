/**
 * What Effect's file system uses of `node:crypto`, for the names of temporary files. Loading all of that takes a tenth of a
 * short run, and most runs make no such name: the build puts this module in its place there (see `build.ts`).
 */

/** Random bytes. */
export const randomBytes = (size: number): Buffer => process.getBuiltinModule("node:crypto").randomBytes(size)
