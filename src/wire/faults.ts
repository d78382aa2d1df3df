/** Collects what is wrong with a document, for the checks that tell all faults at once. */
import type { FieldError } from './envelope.ts'
import { nearest } from './nearest.ts'

/** Largest number of faults that are told: an answer holds them all. */
const mostFaults = 50

/** Longest name that is compared with the known ones: the comparison costs as much as the product of both lengths. */
const longestTypo = 64

export class Faults {
  readonly list: FieldError[] = []

  /** Whether no further fault is kept. A check of a long document ends here. */
  get isFull(): boolean {
    return this.list.length >= mostFaults
  }

  /**
   * @param path keys and indices from the top. An empty one is the whole document, and then the reason is a whole sentence.
   * @param reason goes on after the name of the field. It never quotes a value, which may be a secret in the wrong place.
   */
  add(path: readonly (string | number)[], reason: string): void {
    if (this.isFull) return
    const last = path.at(-1)
    const subject = typeof last === 'number' ? `entry ${last} of "${path.at(-2)}"` : `"${shortened(String(last), 64)}"`
    this.list.push({
      path: shortened(path.join('.'), 200) || 'body',
      reason: shortened(path.length === 0 ? reason : `${subject} ${reason}`, 300),
    })
  }
}

/** The reason of a name that is not among the known ones. */
export function unknownReason(given: string, known: readonly string[]): string {
  const near = given.length > longestTypo ? undefined : nearest(given, known)
  return `is no field here: ${near ? `did you mean "${near}"?` : `the fields are ${known.join(', ')}`}`
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A path and a reason may hold a name of the document, which may be long. */
function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}
