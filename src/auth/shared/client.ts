/** Where a request came from, for sessions, limits and the audit trail. */
export interface ClientInfo {
  /** The address that the platform saw, or `null` where it saw none. */
  ip: string | null
  /** Two letters, as the platform tells it. */
  country: string | null
  user_agent: string | null
  request_id: string
}

/** Characters of a user agent that are kept: the table takes no more. */
const longestUserAgent = 512

/** Only the platform's own headers are believed: a client can write any other. */
export function clientOf({ headers }: Request, requestId: string): ClientInfo {
  const address = headers.get('cf-connecting-ip') ?? ''
  const country = headers.get('cf-ipcountry') ?? ''
  return {
    ip: isAddress(address) ? address : null,
    country: /^[A-Z]{2}$/.test(country) ? country : null,
    user_agent: headers.get('user-agent')?.slice(0, longestUserAgent).toWellFormed() ?? null,
    request_id: requestId,
  }
}

function isAddress(text: string): boolean {
  if (!text.includes(':')) return /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/.test(text)
  return /^[0-9a-f:.]+$/i.test(text) && URL.canParse(`http://[${text}]/`)
}

/**
 * The network that attempts are counted under: an IPv4 address, or the first 64 bits of an IPv6 address, because a subscriber has at
 * least so many addresses. A loopback address names no client: it is the local stack's, or a proxy's on the same machine.
 */
export function networkOf({ ip: seen }: ClientInfo): string | undefined {
  const ip = /^::ffff:(\d+(?:\.\d+){3})$/i.exec(seen ?? '')?.[1] ?? seen // an IPv4 address as IPv6 writes it
  if (ip === null || ip === '::1' || ip.startsWith('127.')) return undefined
  if (!ip.includes(':')) return ip
  const { hostname } = new URL(`http://[${ip}]/`)
  const [head = '', tail] = hostname.slice(1, -1).split('::')
  const groups = head === '' ? [] : head.split(':')
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === '' ? 0 : tail.split(':').length)
  return [...groups, ...Array<string>(missing).fill('0'), ...(tail ? tail.split(':') : [])].slice(0, 4).join(':')
}
