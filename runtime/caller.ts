/** Who a request is counted under, where callers share what there is: rate limits, and the pool's connections. */
import type { Call } from './call.ts'

/** @returns `user <sub>` for a verified access token, else `ip <network>`. */
export function callerOf(call: Call): string {
  return call.subject === undefined ? `ip ${networkOf(call)}` : `user ${call.subject}`
}

/**
 * The network of the address that the platform saw: an IPv4 address, or the first 64 bits of an IPv6 address, because a
 * subscriber has at least so many addresses to choose from.
 */
export function networkOf({ request }: Call): string {
  const address = request.headers.get('cf-connecting-ip') ?? ''
  if (!address.includes(':')) return address
  const mapped = /^::ffff:(\d+(?:\.\d+){3})$/i.exec(address)
  if (mapped) return mapped[1]!
  const [head = '', tail = ''] = address.split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':'))
  const missing = address.includes('::') ? 8 - groups(head).length - groups(tail).length : 0
  const all = [...groups(head), ...Array<string>(Math.max(missing, 0)).fill('0'), ...groups(tail)]
  return `${all
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}
