/** The address of a client, behind proxies that are trusted to name it. */

interface Network {
  bits: bigint
  /** Number of leading bits that count, of 128. */
  length: number
}

/** @param text of an address, or of a network like `10.0.0.0/8`. @returns `undefined` where it is neither. */
export function parseNetwork(text: string): Network | undefined {
  const [, address = '', length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const bits = bitsOf(address)
  if (bits === undefined) return undefined
  const offset = address.includes(':') ? 0 : 96 // an IPv4 address is the end of a mapped IPv6 address
  const full = length === undefined ? 128 : offset + Number(length)
  return full > 128 ? undefined : { bits, length: full }
}

/** The 128 bits of an IPv6 address, or of the IPv6 address that an IPv4 address is mapped to. */
function bitsOf(address: string): bigint | undefined {
  const host = address.includes(':') ? `[${address}]` : `[::ffff:${address}]`
  const canonical = URL.parse(`http://${host}/`)?.hostname
  if (canonical === undefined) return undefined
  const [head = '', tail = ''] = canonical.slice(1, -1).split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':'))
  const missing = canonical.includes('::') ? 8 - groups(head).length - groups(tail).length : 0
  const all = [...groups(head), ...Array<string>(missing).fill('0'), ...groups(tail)]
  return all.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n)
}

/** @returns a function that tells whether an address lies in one of the networks. Its answers are kept, because proxies are few. */
export function createMatcher(networks: readonly string[]): (address: string) => boolean {
  const parsed = networks.flatMap((text) => parseNetwork(text) ?? [])
  const known = new Map<string, boolean>()
  return (address) => {
    if (parsed.length === 0) return false
    const before = known.get(address)
    if (before !== undefined) return before
    const bits = bitsOf(address)
    const isInside = bits !== undefined && parsed.some((one) => (bits ^ one.bits) >> BigInt(128 - one.length) === 0n)
    if (known.size >= mostKnown) known.clear()
    known.set(address, isInside)
    return isInside
  }
}

/** Largest number of addresses whose answer is kept. A client chooses the addresses in its header. */
const mostKnown = 10_000

/**
 * The address that a request is counted under: the last one that no trusted proxy has.
 *
 * @param peer the address of the connection.
 * @param forwarded the header `x-forwarded-for`. Each proxy adds the address that it saw at the end.
 */
export function clientOf(peer: string, forwarded: string | null, isTrusted: (address: string) => boolean): string {
  if (forwarded === null || !isTrusted(peer)) return peer
  const hops = forwarded.slice(-longestForwarded).split(',')
  let client = peer
  for (const hop of hops.reverse()) {
    const address = hop
      .trim()
      .replace(/^\[(.*)\](?::\d+)?$/, '$1')
      .replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1')
    if (bitsOf(address) === undefined) return client // a name, or text of a client: the proxy before it is the last that is known
    client = address
    if (!isTrusted(address)) return client
  }
  return client
}

/** Number of characters of the header that are read, from its end. A chain of proxies is much shorter. */
const longestForwarded = 1_000
