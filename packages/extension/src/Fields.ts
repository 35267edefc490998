/** Decoding of replies, where each field stands or falls alone. */
import { Schema } from "effect"
import type { JsonObject } from "@nimlet/protocol"

/** Field name → schema. */
export interface FieldSchemas {
  readonly [field: string]: Schema.Schema<unknown>
}

/** The decoded fields, each optional. */
export type FieldValues<F extends FieldSchemas> = {
  readonly [K in keyof F]?: F[K] extends Schema.Schema<infer A> ? A : never
}

/** A decoder of the fields of `schemas`: the good ones as `values`, the names of the ill-typed ones as `bad`. */
export const fieldsOf = <const F extends FieldSchemas>(schemas: F) => {
  const checks = Object.entries(schemas).map(([field, schema]) => [field, Schema.is(schema)] as const)
  return (line: JsonObject): { readonly values: FieldValues<F>; readonly bad: ReadonlyArray<string> } => {
    const values: Record<string, unknown> = {}
    const bad: Array<string> = []
    for (const [field, holds] of checks) {
      if (!Object.hasOwn(line, field)) continue
      if (holds(line[field])) values[field] = line[field]
      else bad.push(field)
    }
    return { values: values as FieldValues<F>, bad }
  }
}
