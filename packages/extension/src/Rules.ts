/** Validation with one fixed sentence for each broken rule, in a fixed order. */
import { Schema } from "effect"

/** A shape that must hold, and what to say when it does not. */
export interface Rule {
  readonly holds: (value: unknown) => boolean
  readonly reason: string
}

/** A rule that a schema states. */
export const rule = (shape: Schema.Schema<unknown>, reason: string): Rule => ({ holds: Schema.is(shape), reason })

/** The reason of the first rule that does not hold; later rules may rely on earlier ones. */
export const firstBroken = (rules: ReadonlyArray<Rule>, value: unknown): string | undefined =>
  rules.find(({ holds }) => !holds(value))?.reason
