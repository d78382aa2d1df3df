import { networkOfAddress } from '../../wire/network.ts'

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
    ip: ipAddress(address) === undefined ? null : address,
    country: /^[A-Z]{2}$/.test(country) ? country : null,
    user_agent: headers.get('user-agent')?.slice(0, longestUserAgent).toWellFormed() ?? null,
    request_id: requestId,
  }
}

/** An address of IPv4 or IPv6 in its usual form. @returns `undefined` for any other text. */
export function ipAddress(text: string): string | undefined {
  if (!text.includes(':')) {
    return /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/.test(text)
      ? text.split('.').map(Number).join('.')
      : undefined
  }
  const url = /^[0-9a-f:.]+$/i.test(text) ? URL.parse(`http://[${text}]/`) : null
  return url?.hostname.slice(1, -1)
}

/**
 * The network that attempts are counted under. A loopback address names no client: it is the local stack's, or a proxy's on the same
 * machine.
 */
export function networkOf({ ip }: ClientInfo): string | undefined {
  const network = ip === null || ip === '::1' ? undefined : networkOfAddress(ip)
  return network?.startsWith('127.') ? undefined : network
}
