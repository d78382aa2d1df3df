/**
 * Shares of a resource that the requests of one isolate have in common. When a client disconnects, the Workers runtime may
 * end its request without running its `finally` blocks. So a share counts only as long as its holder renews it.
 */

export interface Share {
  renew(): void
  /** @returns whether there was room. Where there was none, the share keeps its amount. */
  resize(amount: number): boolean
  release(): void
}

export interface Shares {
  /** @returns `undefined` where there is no room. */
  acquire(amount?: number): Share | undefined
  /** Number of shares that are held. */
  count(): number
}

interface Held {
  amount: number
  renewedAt: number
}

/**
 * @param most largest sum of all shares.
 * @param lifeMs milliseconds that a share counts without being renewed.
 * @param mayExceed a share that is the only one may be larger than `most`.
 */
export function createShares(most: number, lifeMs: number, mayExceed = false, now: () => number = Date.now): Shares {
  const shares = new Set<Held>()
  let total = 0

  function forget(share: Held): void {
    if (shares.delete(share)) total -= share.amount
  }

  function forgetStale(): void {
    for (const share of shares) if (share.renewedAt + lifeMs < now()) forget(share)
  }

  /** @param own the amount that the asking share holds already. */
  function hasRoom(amount: number, own: number): boolean {
    return total - own + amount <= most || (mayExceed && total === own)
  }

  function shareOf(share: Held): Share {
    return {
      renew() {
        share.renewedAt = now()
        if (shares.has(share)) return
        shares.add(share) // the request was slow: its share counts again
        total += share.amount
      },
      resize(amount) {
        this.renew()
        if (!hasRoom(amount, share.amount)) forgetStale()
        if (!hasRoom(amount, share.amount)) return false
        total += amount - share.amount
        share.amount = amount
        return true
      },
      release: () => forget(share),
    }
  }

  return {
    acquire(amount = 1) {
      if (!hasRoom(amount, 0)) forgetStale()
      if (!hasRoom(amount, 0)) return undefined
      const share = { amount, renewedAt: now() }
      shares.add(share)
      total += amount
      return shareOf(share)
    },
    count() {
      forgetStale()
      return shares.size
    },
  }
}
