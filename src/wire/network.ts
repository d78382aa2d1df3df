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
