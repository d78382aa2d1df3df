/** @returns the known word that the typed one most likely means: at most two edits, and a third of its length, away. */
export function nearest(typed: string, known: readonly string[]): string | undefined {
  const distances = known.map((word) => ({ word, distance: editDistance(typed.toLowerCase(), word.toLowerCase()) }))
  const best = distances.sort((a, b) => a.distance - b.distance)[0]
  return best && best.distance <= Math.max(1, Math.min(2, Math.floor(best.word.length / 3))) ? best.word : undefined
}

/** Counts insertions, deletions, substitutions, and swaps of two neighbours (Damerau and Levenshtein). */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, index) => index)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const above = rows[i - 1]!
      const substituted = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? rows[i - 2]![j - 2]! + 1 : Number.POSITIVE_INFINITY
      row.push(Math.min(above[j]! + 1, row[j - 1]! + 1, substituted, swapped))
    }
    rows.push(row)
  }
  return rows[a.length]![b.length]!
}
