/** Statistics of measured values, and the order in which they are measured. */

/** @param values at least one. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('no values: they have no median')
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The ratio in each round: a drift of the machine affects both values of a round alike. */
export function ratios(own: readonly number[], peer: readonly number[]): number[] {
  return own.map((value, index) => value / peer[index]!)
}

/**
 * Runs every variant once in each round. Each round starts with the next variant, so that no variant always follows the same
 * one, and a drift of the machine affects all of them alike.
 * @param variants functions that return a measured value.
 * @returns the values by variant, in the order of the rounds.
 */
export async function interleave(
  rounds: number,
  variants: Record<string, () => Promise<number> | number>,
): Promise<Record<string, number[]>> {
  const names = Object.keys(variants)
  const values: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + turn) % names.length]!
      values[name]!.push(await variants[name]!())
    }
  }
  return values
}
