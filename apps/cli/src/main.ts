#!/usr/bin/env node
/** The way in. It stands alone so that what it loads is compiled from Node's cache, and an old Node is told so at once. */
import * as nodeModule from "node:module"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`nimlet needs Node 22.19 or later; this is ${process.versions.node}\n`)
  process.exit(1)
}
nodeModule.enableCompileCache()
await import("./Program.ts")
