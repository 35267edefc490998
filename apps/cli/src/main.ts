#!/usr/bin/env node
/** The way in. It stands alone so that what it loads is compiled from Node's cache, and an old Node is told so at once. */
import * as nodeModule from "node:module"

/** Put in by the build; there is none when this runs from its source. */
declare const NIMLET_VERSION: string | undefined

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`nimlet needs Node 22.19 or later; this is ${process.versions.node}\n`)
  process.exit(1)
}
// What installers, editors and scripts ask first is answered without the program.
if (typeof NIMLET_VERSION === "string" && process.argv.length === 3 && process.argv[2] === "--version") {
  process.stdout.write(`nimlet ${NIMLET_VERSION}\n`)
} else {
  nodeModule.enableCompileCache()
  await import("./Program.ts")
}
