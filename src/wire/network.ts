/**
 * The network that an address is counted under: an IPv4 address, or the first 64 bits of an IPv6 address, because one subscriber can
 * use every address below them. An IPv4 address that is written as IPv6 counts as the IPv4 address.
 *
 * @example `networkOfAddress('2001:db8:1:2::7')` is `2001:db8:1:2::/64`
 */
export function networkOfAddress(address: string): string {
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

/**
 * Tells whether a host lies on this machine or in a private network: loopback addresses, those of RFC 1918, unique local ones
 * (RFC 4193), `localhost`, and names without a dot, which only a local resolver knows.
 *
 * @param host a name or an address, without brackets.
 */
export function isPrivateHost(host: string): boolean {
  if (host.includes(':')) return isPrivateIpv6(host)
  if (/^(?:\d{1,3}\.){3}\d{1,3}$/.test(host)) return isPrivateIpv4(host)
  return /^[a-z][a-z0-9_-]*$/i.test(host) || /^[a-z0-9.-]+\.localhost$/i.test(host)
}

function isPrivateIpv4(address: string): boolean {
  const octets = address.split('.')
  const [first, second] = octets.map(Number) as [number, number]
  // an octet with a leading zero is octal for some resolvers
  if (octets.some((octet) => Number(octet) > 255 || /^0\d/.test(octet))) return false
  if (first === 172) return second >= 16 && second <= 31
  return first === 127 || first === 10 || (first === 192 && second === 168)
}

function isPrivateIpv6(address: string): boolean {
  const canonical = URL.parse(`http://[${address}]/`)?.hostname ?? ''
  const [, high, low] = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(canonical) ?? []
  if (high === undefined) return canonical === '[::1]' || /^\[f[cd][0-9a-f]{2}:/.test(canonical)
  const bits = [high, low!].map((group) => Number.parseInt(group, 16))
  return isPrivateIpv4(bits.flatMap((group) => [group >> 8, group & 255]).join('.'))
}
