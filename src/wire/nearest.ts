/** The known word that a typed one most likely meant: at most two edits, and at most a third of its length, away. */
export function nearest(typed: string, known: readonly string[]): string | undefined {
  const distances = known.map((word) => ({ word, distance: editDistance(typed.toLowerCase(), word.toLowerCase()) }))
  const best = distances.sort((a, b) => a.distance - b.distance)[0]
  return best && best.distance <= Math.max(1, Math.min(2, Math.floor(best.word.length / 3))) ? best.word : undefined
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    }
    row = next
  }
  return row[b.length]!
}
