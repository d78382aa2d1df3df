/** HMAC-SHA-1 in base64 over the configured URL and the sorted form. For other bodies the URL holds a hash of the body. */
import type { UrlProof } from '../../../src/wire/webhook-schemes.ts'
import { fromBase64, toHex } from '../../bytes.ts'
import { type Arrival, type Claim, type Fault, fault, verified } from '../claim.ts'
import { sortedForm } from '../form.ts'
import { joined, utf8 } from '../signed.ts'

/** Length of an HMAC-SHA-1 in bytes. */
const digestBytes = 20

export function readUrl({ header: name }: UrlProof, { headers, urls }: Arrival): Claim | Fault {
  const header = headers.get(name)?.trim()
  if (!header) return fault('missing_header', `the header ${name} is missing`)
  const signature = fromBase64(header)
  if (signature?.length !== digestBytes) {
    return fault('bad_encoding', `the header ${name} holds no signature of ${digestBytes} bytes in base64`)
  }
  const hash = /[?&]bodySHA256=([^&]*)/.exec(urls[0]!)?.[1]
  const rest = (body: Uint8Array<ArrayBuffer>) => (hash === undefined ? sortedForm(body) : new Uint8Array())
  return {
    isJson: hash !== undefined,
    signed: (body) => joined([utf8(urls[0]!), rest(body)]),
    async holds(key, body) {
      if (hash !== undefined && hash !== toHex(await crypto.subtle.digest('SHA-256', body))) return false
      const signedRest = rest(body)
      for (const url of urls) if (await verified('HMAC', key, signature, joined([utf8(url), signedRest]))) return true
      return false
    },
  }
}
