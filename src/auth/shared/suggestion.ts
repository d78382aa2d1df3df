import { nearest } from '../../wire/nearest.ts'

/** Longest name that is compared with the known ones: the comparison costs as much as the product of both lengths. */
const longestTypo = 64

/** @returns the end of a refusal that names the known name which was most likely meant, or nothing. */
export function suggestion(typed: string, known: readonly string[]): string {
  const near = typed.length > longestTypo ? undefined : nearest(typed, known)
  return near === undefined ? '' : `: did you mean "${near}"?`
}
