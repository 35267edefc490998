/** JSON Schema (draft 2020-12) of what machine modes read and write, for clients in any language. */
import { Schema } from "effect"
import type { JsonObject } from "./Content.ts"
import { RpcCommand } from "./RpcCommand.ts"
import { RpcRecord } from "./RpcRecord.ts"
import { StreamRecord } from "./StreamRecord.ts"

const documentOf = (title: string, schema: Schema.Top): JsonObject => {
  const { definitions, schema: root } = Schema.toJsonSchemaDocument(schema)
  return { $schema: "https://json-schema.org/draft/2020-12/schema", title, ...root, ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions }) }
}

/** The published documents by file name. */
export const publishedSchemas = (): Readonly<Record<string, JsonObject>> => ({
  "json-records.json": documentOf("A record of nimlet --mode json", StreamRecord),
  "rpc-records.json": documentOf("A record of nimlet --mode rpc", RpcRecord),
  "rpc-commands.json": documentOf("A command to nimlet --mode rpc", RpcCommand)
})
