/** The URL as the sender was given it, then the sorted form, or a hash of the body inside the URL: HMAC-SHA-1 in base64. */
import type { UrlProof } from '../../../src/wire/webhook-schemes.ts'
import { fromBase64, toHex } from '../../bytes.ts'
import { type Arrival, type Claim, type Refusal, refusal, verified } from '../claim.ts'
import { sortedForm } from '../form.ts'
import { joined, utf8 } from '../signed.ts'

const digestBytes = 20

export function readUrl({ header: name }: UrlProof, { headers, urls }: Arrival): Claim | Refusal {
  const header = headers.get(name)?.trim()
  if (!header) return refusal('missing_header', `the header ${name} is missing`)
  const signature = fromBase64(header)
  if (signature?.length !== digestBytes) {
    return refusal('bad_encoding', `the header ${name} holds no signature of ${digestBytes} bytes in base64`)
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
