/** What checks of recorded streams and sessions read, and what they say. */

/** A record or an entry as read, nothing of it checked. */
export type RecordObject = Readonly<Record<string, unknown>>

/** One broken rule: at which record (from 0; the number of records for the end), and what is wrong. */
export interface Violation {
  readonly index: number
  readonly problem: string
}
