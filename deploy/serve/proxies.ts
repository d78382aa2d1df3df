/** The proxies that `--trust-proxy` names. */
import { parseNetwork } from '../workers/addresses.ts'

/** Words for groups of networks: this machine, and the private networks of RFC 1918 and RFC 4193. */
const groups: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

/** @param text addresses, networks and words, with commas between them. @throws RangeError for one that is none of these. */
export function trustedNetworks(text: string): string[] {
  const words = text.split(',').map((word) => word.trim())
  return words.filter(Boolean).flatMap((word) => {
    const group = Object.hasOwn(groups, word) ? groups[word] : undefined
    if (group) return group
    if (parseNetwork(word)) return [word]
    throw new RangeError(
      `--trust-proxy ${word} is neither an address, nor a network like 10.0.0.0/8, nor loopback or private`,
    )
  })
}
