/** Stand-ins for what the extension API has and we do not: an import finds them, a use says what is missing. */

const complain = (name: string): never => {
  throw new Error(`${name} is not available in nimlet`)
}

/** A function that is not there. */
export const absent = (name: string) => (): never => complain(name)

/** A class that is not there; making one fails. */
export const absentClass = (name: string) =>
  class {
    constructor() {
      complain(name)
    }
  }
