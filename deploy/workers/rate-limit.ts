/**
 * The rate-limit binding (contract 2.7), counted in the memory of one process. Like the platform's it is approximate: a caller whose
 * requests reach several processes is counted by each of them.
 */

interface InnerBindings {
  /** Number of requests of one key in a period. */
  limit: number
  /** Seconds. */
  period: number
}

/** Largest number of keys that are counted at once. Beyond it the one that was seen first is forgotten. */
const mostKeys = 100_000

export default function rateLimit({ limit, period }: InnerBindings) {
  let window = 0
  const counts = new Map<string, number>()
  return {
    async limit({ key }: { key: string }): Promise<{ success: boolean }> {
      const current = Math.floor(Date.now() / (period * 1000))
      if (current !== window) counts.clear()
      window = current
      const count = (counts.get(key) ?? 0) + 1
      if (count > limit) return { success: false }
      const [oldest] = counts.size >= mostKeys && !counts.has(key) ? counts.keys() : []
      if (oldest !== undefined) counts.delete(oldest)
      counts.set(key, count)
      return { success: true }
    },
  }
}
