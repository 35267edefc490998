/**
 * HTTP headers as the web's `Headers` class keeps them. Node's own comes with all of its `fetch`, which takes longer to
 * load than a short answer to arrive: the build puts this class wherever code names `Headers` (see `build.ts`).
 */

/** What headers may be made from. */
type HeadersInit = ConstructorParameters<typeof Headers>[0]

const pairs = (init: Exclude<HeadersInit, undefined>): Iterable<ReadonlyArray<string | undefined>> =>
  Symbol.iterator in init ? init : Object.entries(init)

const token = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
const forbidden = /[\0\r\n]|[^\0-\xff]/

/** Names without case, values of one name joined by a comma, iterated by name; throws `TypeError` for what is no name or value. */
export class HeaderList implements Headers {
  readonly #values = new Map<string, ReadonlyArray<string>>()

  constructor(init?: HeadersInit) {
    if (init === undefined || init === null) return
    for (const [name, value] of pairs(init)) {
      if (name === undefined || value === undefined) throw new TypeError("a header is a name and a value")
      this.append(name, value)
    }
  }

  append(name: string, value: string): void {
    const key = keyOf(name)
    this.#values.set(key, [...this.#values.get(key) ?? [], valueOf(name, value)])
  }

  delete(name: string): void {
    this.#values.delete(keyOf(name))
  }

  get(name: string): string | null {
    return this.#values.get(keyOf(name))?.join(", ") ?? null
  }

  getSetCookie(): Array<string> {
    return [...this.#values.get("set-cookie") ?? []]
  }

  has(name: string): boolean {
    return this.#values.has(keyOf(name))
  }

  set(name: string, value: string): void {
    this.#values.set(keyOf(name), [valueOf(name, value)])
  }

  forEach(callback: (value: string, name: string, headers: Headers) => void, self?: unknown): void {
    for (const [name, value] of this) callback.call(self, value, name, this)
  }

  *entries() {
    for (const name of [...this.#values.keys()].sort()) {
      const values = this.#values.get(name) ?? []
      // The one header whose values cannot be joined.
      for (const value of name === "set-cookie" ? values : [values.join(", ")]) yield [name, value] satisfies [string, string]
    }
  }

  *keys() {
    for (const [name] of this) yield name
  }

  *values() {
    for (const [, value] of this) yield value
  }

  [Symbol.iterator]() {
    return this.entries()
  }
}

const keyOf = (name: string): string => {
  if (!token.test(name)) throw new TypeError(`no name of a header: ${JSON.stringify(name)}`)
  return name.toLowerCase()
}

const valueOf = (name: string, value: string): string => {
  const trimmed = String(value).replace(/^[\t\r\n ]+|[\t\r\n ]+$/g, "")
  if (forbidden.test(trimmed)) throw new TypeError(`the value of the header ${name} has characters that no header may have`)
  return trimmed
}
