/**
 * Shares of what the requests of one isolate have in common. When a client goes away, the runtime may end its request without
 * running another line of it, `finally` included. So a share counts only as long as its holder renews it.
 */

export interface Lease {
  renew(): void
  /** @returns whether there was room; where there was none, the lease is what it was. */
  resize(amount: number): boolean
  release(): void
}

export interface Leases {
  take(amount?: number): Lease | undefined
  /** How many are held. */
  count(): number
}

interface Share {
  amount: number
  renewedAt: number
}

/**
 * @param most what all may hold together. @param lifeMs how long a share counts without being renewed, in milliseconds.
 * @param mayExceed a share that is the only one may be larger than `most`.
 */
export function createLeases(most: number, lifeMs: number, mayExceed = false, now: () => number = Date.now): Leases {
  const shares = new Set<Share>()
  let total = 0

  function forget(share: Share): void {
    if (shares.delete(share)) total -= share.amount
  }

  function forgetStale(): void {
    for (const share of shares) if (share.renewedAt + lifeMs < now()) forget(share)
  }

  /** @param own what the asking share holds already. */
  function hasRoom(amount: number, own: number): boolean {
    return total - own + amount <= most || (mayExceed && total === own)
  }

  function leaseOf(share: Share): Lease {
    return {
      renew() {
        share.renewedAt = now()
        if (shares.has(share)) return
        shares.add(share) // its request was slow, and is alive after all
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
    take(amount = 1) {
      if (!hasRoom(amount, 0)) forgetStale()
      if (!hasRoom(amount, 0)) return undefined
      const share = { amount, renewedAt: now() }
      shares.add(share)
      total += amount
      return leaseOf(share)
    },
    count() {
      forgetStale()
      return shares.size
    },
  }
}
